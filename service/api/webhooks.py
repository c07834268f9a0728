"""Webhooks: where a player wants to be told, and how that went."""

from service.api import answers
from service.api.operation import (
    JSON,
    NO_STORE,
    Answer,
    Call,
    Operation,
    Returns,
    replay_header,
)
from service.api.pages import page_limit, read_cursor, rows_answer
from service.api.schemas import (
    EmptyRequestSchema,
    PageQuerySchema,
    WebhookChangeSchema,
    WebhookRequestSchema,
)
from service.canonical import JsonMap, load_json
from service.play import webhooks
from service.play.caller import KEYS
from service.play.limits import CREATION
from service.play.services import timestamp, timestamp_if
from service.play.webhooks import NewSecret
from service.store.webhooks import Delivery, Webhook


def post_webhook(call: Call) -> Answer:
    """Make a webhook."""
    body = call.body()
    player = call.known_caller.player
    made = webhooks.add_webhook(call.services, player, lambda: call.load(body), call.key(body))
    return Answer(201, _secret_json(made), {**NO_STORE, "Location": f"/webhooks/{made.webhook.id}"})


def get_webhooks(call: Call) -> Answer:
    """List webhooks."""
    limit, before = page_limit(call.query), read_cursor(call.query)
    found = webhooks.list_webhooks(call.services, call.known_caller.player, before, limit + 1)
    return rows_answer(call, found, limit, _webhook_json)


def get_webhook(call: Call, webhook: str) -> Answer:
    """Look at a webhook."""
    found = webhooks.find_webhook(call.services, call.known_caller.player, webhook)
    return Answer(200, _webhook_json(found), NO_STORE)


def patch_webhook(call: Call, webhook: str) -> Answer:
    """Change a webhook."""
    player = call.known_caller.player
    webhooks.find_webhook(call.services, player, webhook)
    changed = webhooks.change_webhook(call.services, player, webhook, call.load(call.body()))
    return Answer(200, _webhook_json(changed), NO_STORE)


def delete_webhook(call: Call, webhook: str) -> Answer:
    """Take a webhook away."""
    webhooks.delete_webhook(call.services, call.known_caller.player, webhook)
    return Answer(204)


def post_secret(call: Call, webhook: str) -> Answer:
    """Change a webhook's secret."""
    body = call.body()
    call.load(body)
    player = call.known_caller.player
    made = webhooks.rotate_secret(call.services, player, webhook, call.key(body))
    return Answer(201, _secret_json(made), NO_STORE)


def get_deliveries(call: Call, webhook: str) -> Answer:
    """List deliveries."""
    limit, before = page_limit(call.query), read_cursor(call.query)
    player = call.known_caller.player
    found = webhooks.deliveries(call.services, player, webhook, before, limit + 1)
    return rows_answer(call, found, limit, _delivery_json)


def post_redelivery(call: Call, webhook: str, delivery: str) -> Answer:
    """Deliver again."""
    call.load(call.body())
    player = call.known_caller.player
    again = webhooks.deliver_again(call.services, player, webhook, delivery)
    return Answer(202, _delivery_json(again), NO_STORE)


def post_test(call: Call, webhook: str) -> Answer:
    """Deliver a test."""
    body = call.body()
    call.load(body)
    player = call.known_caller.player
    made, is_replayed = webhooks.deliver_test(call.services, player, webhook, call.key(body))
    replayed = replay_header(is_replayed=is_replayed)
    return Answer(202, _delivery_json(made), {**NO_STORE, **replayed})


def _webhook_json(webhook: Webhook) -> JsonMap:
    return {
        "id": webhook.id,
        "url": webhook.url,
        "types": list(webhook.types),
        "description": webhook.description,
        "enabled": webhook.disabled_at is None,
        "disabled_reason": webhook.disabled_reason,
        "failing_since": timestamp_if(webhook.failing_since),
        "created_at": timestamp(webhook.created_at),
    }


def _secret_json(made: NewSecret) -> JsonMap:
    return {**_webhook_json(made.webhook), "secret": made.secret}


def _delivery_json(delivery: Delivery) -> JsonMap:
    return {
        "id": delivery.id,
        "type": delivery.type,
        "status": delivery.status,
        "attempts": delivery.attempts,
        "created_at": timestamp(delivery.created_at),
        "next_at": timestamp_if(delivery.next_at),
        "last_at": timestamp_if(delivery.last_at),
        "last_status": delivery.last_status,
        "last_error": delivery.last_error,
        "payload": load_json(delivery.payload),
    }


OPERATIONS = (
    Operation(
        id="makeWebhook",
        method="POST",
        path="/webhooks",
        tag="Webhooks",
        summary="Be told by a webhook",
        description="What happens in your games is posted to your URL, signed by the Standard "
        "Webhooks specification: `webhook-id`, `webhook-timestamp`, `webhook-signature`. Payloads "
        "are those of `GET /players/me/events`, thin and without a card. At least once; of one "
        "game in order; for over three days, less and less often, until you answer 2xx. 410 "
        "disables the webhook, and so do five days of failure. The secret is shown this once.",
        view=post_webhook,
        policy=CREATION,
        scope=KEYS,
        body=WebhookRequestSchema(),
        returns={
            201: Returns("The webhook.", {JSON: answers.NewWebhookSchema()}, ("Location",)),
        },
        refuses=("secret-already-shown", "too-many-webhooks"),
        is_idempotent_by_key=True,
    ),
    Operation(
        id="listWebhooks",
        method="GET",
        path="/webhooks",
        tag="Webhooks",
        summary="List your webhooks",
        view=get_webhooks,
        scope=KEYS,
        query=PageQuerySchema(),
        returns={200: Returns("A page of webhooks.", {JSON: answers.WebhooksPageSchema()})},
    ),
    Operation(
        id="viewWebhook",
        method="GET",
        path="/webhooks/{webhook}",
        tag="Webhooks",
        summary="Look at a webhook",
        view=get_webhook,
        scope=KEYS,
        returns={200: Returns("The webhook.", {JSON: answers.WebhookSchema()})},
        refuses=("webhook-not-found",),
    ),
    Operation(
        id="changeWebhook",
        method="PATCH",
        path="/webhooks/{webhook}",
        tag="Webhooks",
        summary="Change a webhook",
        description="What you leave out stays. `enabled: true` enables one that was disabled: what "
        "was pending then is delivered. What happened meanwhile is not: read it from "
        "`GET /players/me/events`.",
        view=patch_webhook,
        scope=KEYS,
        body=WebhookChangeSchema(),
        returns={200: Returns("The webhook.", {JSON: answers.WebhookSchema()})},
        refuses=("webhook-not-found",),
    ),
    Operation(
        id="deleteWebhook",
        method="DELETE",
        path="/webhooks/{webhook}",
        tag="Webhooks",
        summary="Take a webhook away",
        description="And all that was to be delivered to it.",
        view=delete_webhook,
        scope=KEYS,
        returns={204: Returns("It is gone.")},
        refuses=("webhook-not-found",),
    ),
    Operation(
        id="rotateWebhookSecret",
        method="POST",
        path="/webhooks/{webhook}/secret",
        tag="Webhooks",
        summary="Change a webhook's secret",
        description="For a day deliveries are signed by both secrets. The new one is shown this "
        "once.",
        view=post_secret,
        policy=CREATION,
        scope=KEYS,
        body=EmptyRequestSchema(),
        returns={201: Returns("The new secret.", {JSON: answers.NewWebhookSchema()})},
        refuses=("webhook-not-found", "secret-already-shown"),
        is_idempotent_by_key=True,
    ),
    Operation(
        id="listDeliveries",
        method="GET",
        path="/webhooks/{webhook}/deliveries",
        tag="Webhooks",
        summary="List what was to be delivered",
        description="Of the last thirty days, newest first, and how it went.",
        view=get_deliveries,
        scope=KEYS,
        query=PageQuerySchema(),
        returns={200: Returns("A page of deliveries.", {JSON: answers.DeliveriesPageSchema()})},
        refuses=("webhook-not-found",),
    ),
    Operation(
        id="deliverAgain",
        method="POST",
        path="/webhooks/{webhook}/deliveries/{delivery}/redelivery",
        tag="Webhooks",
        summary="Deliver again",
        description="At once, with the same id: who keeps the ids knows it.",
        view=post_redelivery,
        scope=KEYS,
        body=EmptyRequestSchema(),
        returns={202: Returns("It is due.", {JSON: answers.DeliverySchema()})},
        refuses=("webhook-not-found", "delivery-not-found"),
    ),
    Operation(
        id="testWebhook",
        method="POST",
        path="/webhooks/{webhook}/test",
        tag="Webhooks",
        summary="Deliver a test",
        description="A `webhook.test` with nothing in it, delivered as anything else is.",
        view=post_test,
        policy=CREATION,
        scope=KEYS,
        body=EmptyRequestSchema(),
        returns={
            202: Returns("It is due.", {JSON: answers.DeliverySchema()}, ("Idempotent-Replayed",))
        },
        refuses=("webhook-not-found", "delivery-not-found"),
        is_idempotent_by_key=True,
    ),
)
