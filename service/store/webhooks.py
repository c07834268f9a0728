"""Webhooks and their outbox."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, text, update

from service.store.appends import RequestKey
from service.store.database import Database, connection, transaction
from service.store.players import bind_creation
from service.store.tables import webhook_deliveries, webhooks

CLAIM = """
WITH due AS (
    SELECT DISTINCT webhook_id FROM webhook_deliveries
    WHERE status = 'pending' AND next_at <= :now
), chosen AS (
    SELECT delivery.id
    FROM webhooks AS webhook CROSS JOIN LATERAL (
        SELECT id FROM webhook_deliveries AS own
        WHERE own.webhook_id = webhook.id AND own.status = 'pending' AND own.next_at <= :now
            AND NOT EXISTS (
                SELECT FROM webhook_deliveries AS earlier
                WHERE earlier.webhook_id = own.webhook_id AND earlier.game_id = own.game_id
                    AND earlier.status = 'pending' AND earlier.number < own.number
            )
        ORDER BY own.next_at, own.id LIMIT :each FOR UPDATE SKIP LOCKED
    ) AS delivery
    WHERE webhook.id IN (SELECT webhook_id FROM due) AND webhook.disabled_at IS NULL
        AND webhook.id <> ALL(CAST(:busy AS text[]))
    LIMIT :limit
)
UPDATE webhook_deliveries AS delivery
SET attempts = attempts + 1, next_at = :lease, last_at = :now
FROM chosen, webhooks AS webhook
WHERE delivery.id = chosen.id AND webhook.id = delivery.webhook_id
RETURNING delivery.id, delivery.webhook_id, delivery.payload, delivery.attempts, webhook.url,
    webhook.secret, webhook.sealed_with, webhook.old_secret, webhook.old_sealed_with,
    webhook.old_until
"""
"""What is due, of each game only what comes first, leased to whoever claims it.

Whoever dies with a lease leaves it to be claimed again when it is over.
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
class Claimed:
    """A delivery that is ours to send for a while; `secrets` sign it."""

    id: str
    webhook: str
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
    """Write what is to be delivered, at once due."""
    rows = [
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
            "next_at": delivery.created_at,
        }
        for delivery in deliveries
    ]
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
    database: Database, webhook: str, delivery: str, now: datetime
) -> Delivery | None:
    """The delivery, due at once; None if there is none such."""
    again = (
        update(webhook_deliveries)
        .where(webhook_deliveries.c.webhook_id == webhook, webhook_deliveries.c.id == delivery)
        .values(status="pending", next_at=now)
        .returning(*_DELIVERY)
    )
    with connection(database) as open_connection:
        row = open_connection.execute(again).mappings().one_or_none()
    return Delivery(**row) if row else None


def claim_deliveries(
    database: Database,
    now: datetime,
    lease: timedelta,
    limit: int,
    each: int,
    busy: Collection[str] = (),
) -> Sequence[Claimed]:
    """At most so many deliveries that are due, at most `each` of a webhook, none of the busy."""
    parameters = {
        "now": now,
        "lease": now + lease,
        "limit": limit,
        "each": each,
        "busy": sorted(busy),
    }
    with connection(database) as open_connection:
        rows = open_connection.execute(text(CLAIM), parameters).mappings().all()
    return [_claimed(database, row, now) for row in rows]


def _claimed(database: Database, row: Mapping[Any, Any], now: datetime) -> Claimed:
    webhook = row["webhook_id"]
    secrets = [database.box.open(row["secret"], row["sealed_with"], webhook)]
    if row["old_until"] is not None and row["old_until"] > now:
        secrets.append(database.box.open(row["old_secret"], row["old_sealed_with"], webhook))
    return Claimed(
        id=row["id"],
        webhook=webhook,
        url=row["url"],
        payload=row["payload"],
        attempt=row["attempts"],
        secrets=secrets,
    )


def note_result(
    database: Database,
    claimed: Claimed,
    *,
    status: str,
    next_at: datetime | None,
    answer: int | None,
    error: str | None,
) -> None:
    """Write down how an attempt went, unless another one was begun meanwhile."""
    note = (
        update(webhook_deliveries)
        .where(
            webhook_deliveries.c.id == claimed.id,
            webhook_deliveries.c.attempts == claimed.attempt,
            webhook_deliveries.c.status == "pending",
        )
        .values(status=status, next_at=next_at, last_status=answer, last_error=error)
    )
    with connection(database) as open_connection:
        open_connection.execute(note)


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
    """Take away what is too old to be asked for."""
    with connection(database) as open_connection:
        open_connection.execute(
            delete(webhook_deliveries).where(webhook_deliveries.c.created_at < before)
        )
