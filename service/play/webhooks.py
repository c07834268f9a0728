"""Webhooks, by the Standard Webhooks specification: where players want to be told.

A payload is thin: it says what happened in which game, and never a card.
What it was about is read from the game, with a key.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import SplitResult, urlsplit

from service.canonical import dump_json, load_json
from service.play.addresses import is_forbidden_host
from service.play.idempotency import made_before, shown_once, within_game
from service.play.ids import is_id
from service.play.refusals import (
    DeliveryNotFound,
    FieldError,
    InvalidBody,
    TooManyWebhooks,
    WebhookNotFound,
)
from service.play.services import Services, timestamp
from service.store import webhooks as store
from service.store.appends import KeyBound, RequestKey
from service.store.notices import Notice
from service.store.webhooks import Delivery, Webhook

WRITTEN_AS = "whsec_{}"
WEBHOOKS_AT_MOST = 10
OLD_SECRET_LIVES = timedelta(hours=24)
"""For how long the secret before the present one signs, too."""

DELIVERIES_KEPT = timedelta(days=30)
LEASE = timedelta(seconds=60)
"""After how long a delivery is taken for lost with whoever had it; longer than one can take."""

TEST = "webhook.test"
PORTS = (80, 443, *range(1024, 65536))


@dataclass(frozen=True, slots=True)
class NewSecret:
    """A webhook and its secret, which is shown this once."""

    webhook: Webhook
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRequest:
    """What a player asks of a webhook; no types stand for all of them."""

    url: str
    types: Sequence[str] = ()
    description: str = ""


def add_webhook(
    services: Services, player: str, read: Callable[[], WebhookRequest], key: RequestKey | None
) -> NewSecret:
    """Another webhook; raises InvalidBody, TooManyWebhooks and SecretAlreadyShown."""
    with shown_once(services, key):
        asked = read()
        _refuse_bad_url(services, asked.url)
        if store.count_webhooks(services.database, player) >= WEBHOOKS_AT_MOST:
            raise TooManyWebhooks(limit=WEBHOOKS_AT_MOST)
        webhook = Webhook(
            id=services.new_id(),
            player=player,
            url=asked.url,
            types=asked.types,
            description=asked.description,
            created_at=services.now(),
        )
        secret = services.draw_token()
        store.add_webhook(services.database, webhook, secret, key)
    return NewSecret(webhook, secret_text(secret))


def list_webhooks(
    services: Services, player: str, before: str | None, limit: int
) -> Sequence[Webhook]:
    """The player's webhooks, newest first."""
    return store.list_webhooks(services.database, player, before, limit)


def find_webhook(services: Services, player: str, webhook: str) -> Webhook:
    """The player's webhook; raises WebhookNotFound."""
    found = store.find_webhook(services.database, player, webhook) if is_id(webhook) else None
    if found is None:
        raise WebhookNotFound
    return found


def change_webhook(
    services: Services, player: str, webhook: str, changes: Mapping[str, Any]
) -> Webhook:
    """The webhook with another url, other types or another description, enabled or disabled.

    Raises WebhookNotFound and InvalidBody.
    """
    found = find_webhook(services, player, webhook)
    columns = dict(changes)
    if "url" in columns:
        _refuse_bad_url(services, columns["url"])
    is_enabled = columns.pop("enabled", None)
    if is_enabled:
        columns |= {"disabled_at": None, "disabled_reason": None, "failing_since": None}
    elif is_enabled is False and found.disabled_at is None:
        columns |= {"disabled_at": services.now(), "disabled_reason": "asked"}
    changed = store.change_webhook(services.database, player, webhook, columns)
    if changed is None:
        raise WebhookNotFound
    return changed


def delete_webhook(services: Services, player: str, webhook: str) -> None:
    """Take the webhook away, and what was to be delivered to it; raises WebhookNotFound."""
    if not is_id(webhook) or not store.delete_webhook(services.database, player, webhook):
        raise WebhookNotFound


def rotate_secret(
    services: Services, player: str, webhook: str, key: RequestKey | None
) -> NewSecret:
    """Another secret; the one before signs beside it for a day.

    Raises WebhookNotFound and SecretAlreadyShown.
    """
    found = find_webhook(services, player, webhook)
    key = within_game(key, webhook)
    with shown_once(services, key):
        secret = services.draw_token()
        old_until = services.now() + OLD_SECRET_LIVES
        store.change_secret(services.database, found, secret, old_until, key)
    return NewSecret(found, secret_text(secret))


def deliveries(
    services: Services, player: str, webhook: str, before: str | None, limit: int
) -> Sequence[Delivery]:
    """What was to be delivered to the webhook, newest first; raises WebhookNotFound."""
    found = find_webhook(services, player, webhook)
    return store.list_deliveries(services.database, found.id, before, limit)


def deliver_again(services: Services, player: str, webhook: str, delivery: str) -> Delivery:
    """Deliver it again, at once; raises WebhookNotFound and DeliveryNotFound."""
    found, again = find_webhook(services, player, webhook), None
    if is_id(delivery):
        again = store.deliver_again(services.database, found.id, delivery, services.now(), LEASE)
    if again is None:
        raise DeliveryNotFound
    return again


def deliver_test(
    services: Services, player: str, webhook: str, key: RequestKey | None
) -> tuple[Delivery, bool]:
    """Deliver a test, at once; whether the same request did before. Raises WebhookNotFound."""
    found = find_webhook(services, player, webhook)
    bound = within_game(key, webhook)
    made = made_before(services, bound)
    if made is not None:
        before = store.find_delivery(services.database, found.id, made.resource_id)
        if before is None:
            raise DeliveryNotFound
        return before, True
    now, new = services.now(), services.new_id()
    delivery = Delivery(
        id=new,
        webhook=found.id,
        game="",
        number=0,
        type=TEST,
        payload=_payload(TEST, now, "{}"),
        created_at=now,
        next_at=now,
    )
    try:
        store.add_delivery(services.database, delivery, bound)
    except KeyBound:
        return deliver_test(services, player, webhook, key)
    return delivery, False


def deliveries_of(
    services: Services, notices: Sequence[Notice], hooks: Sequence[Webhook]
) -> Sequence[Delivery]:
    """What the notices are for these webhooks, each of its player."""
    return [
        Delivery(
            id=services.new_id(),
            webhook=hook.id,
            game=notice.game,
            number=notice.number,
            type=notice.type,
            payload=_payload(notice.type, notice.at, notice.data),
            created_at=notice.at,
        )
        for notice in notices
        for hook in hooks
        if hook.player == notice.player and (not hook.types or notice.type in hook.types)
    ]


def _payload(kind: str, at: datetime, data: str) -> str:
    return dump_json({"type": kind, "timestamp": timestamp(at), "data": load_json(data)})


def secret_text(secret: bytes) -> str:
    """The secret as the specification writes it."""
    return WRITTEN_AS.format(base64.b64encode(secret).decode())


def signatures(secrets: Sequence[bytes], delivery: str, seconds: int, payload: str) -> str:
    """The header under a delivery that is sent at that time: a signature by each secret."""
    signed = f"{delivery}.{seconds}.{payload}".encode()
    made = (hmac.digest(secret, signed, hashlib.sha256) for secret in secrets)
    return " ".join(f"v1,{base64.b64encode(one).decode()}" for one in made)


def _refuse_bad_url(services: Services, url: str) -> None:
    """Refuse what can never be delivered to; its addresses are looked at with each delivery."""
    fault = url_fault(url, allows_any=services.allows_any_address)
    if fault is not None:
        raise InvalidBody([FieldError("/url", fault)])


def url_fault(url: str, *, allows_any: bool) -> str | None:
    """Why nothing is delivered to the URL; None if it may be."""
    try:
        parts: SplitResult = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "It is no URL."
    if parts.scheme not in (("https", "http") if allows_any else ("https",)) or not host:
        return "It must begin with https://."
    if parts.username is not None or parts.password is not None or parts.fragment:
        return "It may hold neither a name, nor a password, nor a fragment."
    if port is not None and port not in PORTS:
        return "Its port must be 80, 443, or above 1023."
    if not allows_any and is_forbidden_host(host):
        return "Its address is not a public one."
    return None
