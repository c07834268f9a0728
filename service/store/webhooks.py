"""Webhooks and their outbox."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Update, delete, func, insert, select, text, update

from service.store.appends import RequestKey
from service.store.database import Database, connection, drop_old, transaction
from service.store.players import bind_creation
from service.store.secret_box import SealedSecret
from service.store.tables import webhook_deliveries, webhooks

CLAIM = """
WITH due AS (
    SELECT DISTINCT webhook_id FROM webhook_deliveries
    WHERE status = 'pending' AND next_at <= :now
), ranked AS (
    SELECT delivery.id, delivery.next_at, row_number() OVER (
        PARTITION BY webhook.player_id ORDER BY delivery.next_at, delivery.id
    ) AS of_player
    FROM due JOIN webhooks AS webhook ON webhook.id = due.webhook_id
    CROSS JOIN LATERAL (
        SELECT id, next_at FROM webhook_deliveries AS own
        WHERE own.webhook_id = webhook.id AND own.status = 'pending' AND own.next_at <= :now
        ORDER BY own.next_at, own.id LIMIT :each
    ) AS delivery
    WHERE webhook.disabled_at IS NULL AND webhook.id <> ALL(CAST(:busy AS text[]))
        AND webhook.player_id <> ALL(CAST(:busy_players AS text[]))
), chosen AS (
    SELECT id FROM ranked WHERE of_player <= :each_player ORDER BY next_at, id LIMIT :limit
)
UPDATE webhook_deliveries AS delivery
SET attempts = attempts + 1, next_at = :lease, last_at = :now
FROM chosen, webhooks AS webhook
WHERE delivery.id = chosen.id AND webhook.id = delivery.webhook_id
    AND delivery.status = 'pending' AND delivery.next_at <= :now
RETURNING delivery.id, delivery.webhook_id, delivery.game_id, delivery.payload, delivery.attempts,
    webhook.player_id, webhook.url, webhook.secret, webhook.sealed_with, webhook.old_secret,
    webhook.old_sealed_with, webhook.old_until
"""
"""What is due, whoever waits longest first, leased to whoever claims it.

Of two that choose the same row the second finds it leased, and leaves it.
Whoever dies with a lease leaves it to be claimed again when it is over.
"""

HEADS = """
SELECT webhook_id, game_id FROM webhook_deliveries
WHERE status = 'pending' AND (webhook_id, game_id) IN (
    SELECT * FROM unnest(CAST(:hooks AS text[]), CAST(:games AS text[]))
)
ORDER BY webhook_id, game_id, number, id FOR UPDATE
"""
"""Locked, so that none of them is settled before what waits for it is there."""

PROMOTE = """
UPDATE webhook_deliveries SET next_at = :now
WHERE id = (
    SELECT id FROM webhook_deliveries
    WHERE webhook_id = :webhook AND game_id = :game AND status = 'pending'
    ORDER BY number, id LIMIT 1
) AND next_at IS NULL
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A webhook without its secret; no `types` stand for all of them.

    None where it does not fail, is not disabled.
    """

    id: str
    player: str
    url: str
    types: Sequence[str]
    description: str
    created_at: datetime
    failing_since: datetime | None = None
    disabled_at: datetime | None = None
    disabled_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What is to be delivered to a webhook, and how that went."""

    id: str
    webhook: str
    game: str
    number: int
    type: str
    payload: str
    created_at: datetime
    status: str = "pending"
    attempts: int = 0
    next_at: datetime | None = None
    last_at: datetime | None = None
    last_status: int | None = None
    last_error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How many deliveries a courier can take, of a webhook, of a player; none of the busy ones."""

    lease: timedelta
    limit: int
    each: int
    each_player: int
    busy: Collection[str] = ()
    busy_players: Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A delivery that is ours to send for a while.

    `secrets` sign it; there are none where they are sealed with a key that is not here.
    """

    id: str
    webhook: str
    player: str
    game: str
    url: str
    payload: str
    attempt: int
    secrets: Sequence[bytes] = field(repr=False)


_WEBHOOK = (
    webhooks.c.id,
    webhooks.c.player_id.label("player"),
    webhooks.c.url,
    webhooks.c.types,
    webhooks.c.description,
    webhooks.c.created_at,
    webhooks.c.failing_since,
    webhooks.c.disabled_at,
    webhooks.c.disabled_reason,
)
_DELIVERY = (
    webhook_deliveries.c.id,
    webhook_deliveries.c.webhook_id.label("webhook"),
    webhook_deliveries.c.game_id.label("game"),
    webhook_deliveries.c.number,
    webhook_deliveries.c.type,
    webhook_deliveries.c.payload,
    webhook_deliveries.c.created_at,
    webhook_deliveries.c.status,
    webhook_deliveries.c.attempts,
    webhook_deliveries.c.next_at,
    webhook_deliveries.c.last_at,
    webhook_deliveries.c.last_status,
    webhook_deliveries.c.last_error,
)


def add_webhook(
    database: Database, webhook: Webhook, secret: bytes, request: RequestKey | None
) -> None:
    """Write a webhook; raises KeyBound if the request was made before."""
    row = insert(webhooks).values(
        id=webhook.id,
        player_id=webhook.player,
        url=webhook.url,
        types=list(webhook.types),
        description=webhook.description,
        secret=database.box.seal(secret, webhook.id),
        sealed_with=database.box.key_id,
        created_at=webhook.created_at,
    )
    with transaction(database) as open_connection:
        open_connection.execute(row)
        bind_creation(open_connection, request, webhook.id)


def list_webhooks(
    database: Database, player: str, before: str | None, limit: int
) -> Sequence[Webhook]:
    """The player's webhooks, newest first."""
    query = select(*_WEBHOOK).where(webhooks.c.player_id == player)
    if before is not None:
        query = query.where(webhooks.c.id < before)
    query = query.order_by(webhooks.c.id.desc()).limit(limit)
    with connection(database) as open_connection:
        return [Webhook(**row) for row in open_connection.execute(query).mappings()]


def count_webhooks(database: Database, player: str) -> int:
    """How many webhooks the player has."""
    query = select(func.count()).where(webhooks.c.player_id == player)
    with connection(database) as open_connection:
        return open_connection.execute(query).scalar_one()


def find_webhook(database: Database, player: str, webhook: str) -> Webhook | None:
    """The player's webhook of that id."""
    query = select(*_WEBHOOK).where(webhooks.c.player_id == player, webhooks.c.id == webhook)
    with connection(database) as open_connection:
        row = open_connection.execute(query).mappings().one_or_none()
    return Webhook(**row) if row else None


def change_webhook(
    database: Database, player: str, webhook: str, changes: Mapping[str, Any]
) -> Webhook | None:
    """The player's webhook with these columns changed; None if they have none of that id."""
    change = (
        update(webhooks)
        .where(webhooks.c.player_id == player, webhooks.c.id == webhook)
        .values(**(changes or {"id": webhooks.c.id}))
        .returning(*_WEBHOOK)
    )
    with connection(database) as open_connection:
        row = open_connection.execute(change).mappings().one_or_none()
    return Webhook(**row) if row else None


def change_secret(
    database: Database,
    webhook: Webhook,
    secret: bytes,
    old_until: datetime,
    request: RequestKey | None,
) -> None:
    """Sign with another secret from now on, and with the one before until then.

    Raises KeyBound if the request was made before.
    """
    change = (
        update(webhooks)
        .where(webhooks.c.id == webhook.id)
        .values(
            secret=database.box.seal(secret, webhook.id),
            sealed_with=database.box.key_id,
            old_secret=webhooks.c.secret,
            old_sealed_with=webhooks.c.sealed_with,
            old_until=old_until,
        )
    )
    with transaction(database) as open_connection:
        open_connection.execute(change)
        bind_creation(open_connection, request, webhook.id)


def delete_webhook(database: Database, player: str, webhook: str) -> bool:
    """Take the player's webhook away, and what was to be delivered to it; False if it was gone."""
    gone = delete(webhooks).where(webhooks.c.player_id == player, webhooks.c.id == webhook)
    with connection(database) as open_connection:
        return open_connection.execute(gone).rowcount == 1


def webhooks_of(open_connection: Connection, players: Collection[str]) -> Sequence[Webhook]:
    """The webhooks of these players that are not disabled."""
    query = select(*_WEBHOOK).where(
        webhooks.c.player_id.in_(players), webhooks.c.disabled_at.is_(None)
    )
    return [Webhook(**row) for row in open_connection.execute(query).mappings()]


def add_deliveries(open_connection: Connection, deliveries: Sequence[Delivery]) -> None:
    """Write what is to be delivered: of each game the first at once, the others after it."""
    groups = sorted({(delivery.webhook, delivery.game) for delivery in deliveries})
    asked = {"hooks": [hook for hook, _ in groups], "games": [game for _, game in groups]}
    waiting = {(row.webhook_id, row.game_id) for row in open_connection.execute(text(HEADS), asked)}
    rows = []
    for delivery in deliveries:
        group = (delivery.webhook, delivery.game)
        is_first = not delivery.game or group not in waiting
        waiting.add(group)
        rows.append(
            {
                "id": delivery.id,
                "webhook_id": delivery.webhook,
                "game_id": delivery.game,
                "number": delivery.number,
                "type": delivery.type,
                "payload": delivery.payload,
                "created_at": delivery.created_at,
                "status": "pending",
                "attempts": 0,
                "next_at": delivery.created_at if is_first else None,
            }
        )
    open_connection.execute(insert(webhook_deliveries), rows)


def add_delivery(database: Database, delivery: Delivery, request: RequestKey | None) -> None:
    """Write one more; raises KeyBound if the request was made before."""
    with transaction(database) as open_connection:
        add_deliveries(open_connection, [delivery])
        bind_creation(open_connection, request, delivery.id)


def list_deliveries(
    database: Database, webhook: str, before: str | None, limit: int
) -> Sequence[Delivery]:
    """What was to be delivered to the webhook, newest first."""
    query = select(*_DELIVERY).where(webhook_deliveries.c.webhook_id == webhook)
    if before is not None:
        query = query.where(webhook_deliveries.c.id < before)
    query = query.order_by(webhook_deliveries.c.id.desc()).limit(limit)
    with connection(database) as open_connection:
        return [Delivery(**row) for row in open_connection.execute(query).mappings()]


def find_delivery(database: Database, webhook: str, delivery: str) -> Delivery | None:
    """The webhook's delivery of that id."""
    query = select(*_DELIVERY).where(
        webhook_deliveries.c.webhook_id == webhook, webhook_deliveries.c.id == delivery
    )
    with connection(database) as open_connection:
        row = open_connection.execute(query).mappings().one_or_none()
    return Delivery(**row) if row else None


def deliver_again(
    database: Database, webhook: str, delivery: str, now: datetime, lease: timedelta
) -> Delivery | None:
    """The delivery, due at once; None if there is none such.

    One that is under way, or waits for an earlier one of its game, is left as it is.
    """
    mine = (webhook_deliveries.c.webhook_id == webhook) & (webhook_deliveries.c.id == delivery)
    is_settled = webhook_deliveries.c.status != "pending"
    is_resting = webhook_deliveries.c.next_at > now + lease
    again = update(webhook_deliveries).where(mine)
    with transaction(database) as open_connection:
        open_connection.execute(again.where(is_resting).values(next_at=now))
        settled = {"status": "pending", "attempts": 0, "next_at": now}
        open_connection.execute(again.where(is_settled).values(**settled))
        query = select(*_DELIVERY).where(mine)
        row = open_connection.execute(query).mappings().one_or_none()
    return Delivery(**row) if row else None


def claim_deliveries(database: Database, now: datetime, wanted: Wanted) -> Sequence[Claimed]:
    """What is due, as far as it is wanted, leased to whoever claims it."""
    parameters = {
        "now": now,
        "lease": now + wanted.lease,
        "limit": wanted.limit,
        "each": wanted.each,
        "each_player": wanted.each_player,
        "busy": sorted(wanted.busy),
        "busy_players": sorted(wanted.busy_players),
    }
    with connection(database) as open_connection:
        rows = open_connection.execute(text(CLAIM), parameters).mappings().all()
    return [_claimed(database, row, now) for row in rows]


def _claimed(database: Database, row: Mapping[Any, Any], now: datetime) -> Claimed:
    webhook = row["webhook_id"]
    try:
        secrets = [database.box.open(row["secret"], row["sealed_with"], webhook)]
        if row["old_until"] is not None and row["old_until"] > now:
            secrets.append(database.box.open(row["old_secret"], row["old_sealed_with"], webhook))
    except SealedSecret:
        secrets = []
    return Claimed(
        id=row["id"],
        webhook=webhook,
        player=row["player_id"],
        game=row["game_id"],
        url=row["url"],
        payload=row["payload"],
        attempt=row["attempts"],
        secrets=secrets,
    )


def note_retry(
    database: Database, claimed: Claimed, next_at: datetime, answer: int | None, error: str | None
) -> None:
    """Write down that an attempt failed, unless another one was begun meanwhile."""
    values = {"next_at": next_at, "last_status": answer, "last_error": error}
    with connection(database) as open_connection:
        open_connection.execute(_own_attempt(claimed).values(**values))


def settle(
    database: Database,
    claimed: Claimed,
    status: str,
    now: datetime,
    answer: int | None,
    error: str | None,
) -> None:
    """Write down that it is delivered or given up; what waits for it in its game is due now."""
    values = {"status": status, "next_at": None, "last_status": answer, "last_error": error}
    with transaction(database) as open_connection:
        if open_connection.execute(_own_attempt(claimed).values(**values)).rowcount:
            group = {"webhook": claimed.webhook, "game": claimed.game, "now": now}
            open_connection.execute(text(PROMOTE), group)


def _own_attempt(claimed: Claimed) -> Update:
    return update(webhook_deliveries).where(
        webhook_deliveries.c.id == claimed.id,
        webhook_deliveries.c.attempts == claimed.attempt,
        webhook_deliveries.c.status == "pending",
    )


def note_success(database: Database, webhook: str) -> None:
    """The webhook answers as it should."""
    note = update(webhooks).where(webhooks.c.id == webhook, webhooks.c.failing_since.is_not(None))
    with connection(database) as open_connection:
        open_connection.execute(note.values(failing_since=None))


def note_failure(database: Database, webhook: str, now: datetime, patience: timedelta) -> bool:
    """The webhook fails; whether it did for so long that it is disabled."""
    since = func.coalesce(webhooks.c.failing_since, now)
    note = update(webhooks).where(webhooks.c.id == webhook)
    with connection(database) as open_connection:
        open_connection.execute(note.values(failing_since=since))
        disable = note.where(
            webhooks.c.failing_since < now - patience, webhooks.c.disabled_at.is_(None)
        )
        values = {"disabled_at": now, "disabled_reason": "failing"}
        return open_connection.execute(disable.values(**values)).rowcount == 1


def disable_webhook(database: Database, webhook: str, now: datetime, reason: str) -> None:
    """Deliver nothing to the webhook any more, until its player enables it."""
    disable = (
        update(webhooks)
        .where(webhooks.c.id == webhook, webhooks.c.disabled_at.is_(None))
        .values(disabled_at=now, disabled_reason=reason)
    )
    with connection(database) as open_connection:
        open_connection.execute(disable)


def drop_old_deliveries(database: Database, before: datetime) -> None:
    """Take away what is too old to be asked for, some of it at a time."""
    drop_old(database, webhook_deliveries.c.created_at, before)
