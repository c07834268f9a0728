"""Webhooks: signed, thin, in order, again and again, and never to an address of our own."""

import itertools
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from api.test_games import code, mover, opened, started
from conftest import Person, fresh_key, services_at
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from flask.testing import FlaskClient
from play_through import play_on
from receiver import Receiver, receiver
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from service.app import create_app
from service.play import idempotency, webhooks
from service.play.addresses import is_forbidden_host, is_public
from service.play.noticing import TYPES, Dispatcher
from service.play.services import Services, utc_now
from service.play.webhooks import LEASE, signatures, url_fault
from service.store.embedded import Urls
from service.store.secret_box import SecretBox
from service.store.webhooks import Wanted, claim_deliveries, drop_old_deliveries
from service.worker import posting
from service.worker.courier import DELAYS, PATIENCE, Courier
from service.worker.posting import Posted, Undeliverable, post

EIGHT = Wanted(lease=LEASE, limit=8, each=2, each_player=8)


class Clock:
    """A time that the test moves on."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def __call__(self) -> datetime:
        return utc_now() + self.ahead


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def house(services: Services, clock: Clock) -> Services:
    """The services as a worker has them that may deliver to this machine."""
    return replace(services, allows_any_address=True, now=clock)


@pytest.fixture
def client(house: Services, description: Any) -> FlaskClient:
    app = create_app(house)
    app.test_client_class = description.checking_client()
    return app.test_client()


@pytest.fixture
def people(someone: Callable[..., Person]) -> list[Person]:
    return [someone(name) for name in ("Ilze", "Jānis", "Anna")]


@pytest.fixture
def tell(house: Services) -> Callable[[], None]:
    dispatcher = Dispatcher(house)

    def run() -> None:
        while dispatcher.run():
            pass

    run()
    return run


def hooked(person: Person, url: str, **body: Any) -> Any:
    answer = person.post("/webhooks", {"url": url, **body}, headers=fresh_key())
    assert answer.status_code == 201, answer.text
    return answer.get_json()


def deliver(house: Services, **courier: Any) -> None:
    """Deliver all that is due."""
    sender = Courier(house, **courier)
    while sender.run() or sender._under_way.total():  # noqa: SLF001  what is under way
        time.sleep(0.005)
    sender.finish(5)


def deliveries(person: Person, hook: Any) -> list[Any]:
    """Oldest first."""
    items = person.get(f"/webhooks/{hook['id']}/deliveries?limit=200").get_json()["items"]
    return list(reversed(items))


def verified(found: Receiver, secret: str) -> list[Any]:
    """The payloads, each checked with the library that receivers use."""
    checker = Webhook(secret)
    return [checker.verify(body, headers) for _, headers, body in found.requests]


def test_what_happens_is_posted_signed_and_in_order(
    people: list[Person], house: Services, tell: Callable[[], None]
) -> None:
    with receiver() as found:
        hook = hooked(people[0], found.url)
        game = started(people, options={"rounds": 1})
        for _ in range(6):
            turning = mover(people, game)
            turning.move(game, turning.view(game)["legal_moves"][0])
            tell()
            deliver(house)
        play_on(house, people, game, random.Random(1))
        tell()
        deliver(house)
        payloads = verified(found, hook["secret"])
    notices = people[0].get("/players/me/events?limit=200").get_json()["items"]
    assert payloads == [
        {"type": item["type"], "timestamp": item["at"], "data": item["data"]} for item in notices
    ]
    assert {path for path, _, _ in found.requests} == {"/hook?of=mine"}
    listed = deliveries(people[0], hook)
    assert [item["payload"] for item in listed] == payloads
    assert {(item["status"], item["attempts"], item["last_status"]) for item in listed} == {
        ("delivered", 1, 204)
    }
    ids = [headers["webhook-id"] for _, headers, _ in found.requests]
    assert ids == [item["id"] for item in listed]
    with pytest.raises(WebhookVerificationError):
        verified(found, "whsec_" + "A" * 43 + "=")


def test_a_webhook_is_told_of_what_it_asked_for(
    people: list[Person], house: Services, tell: Callable[[], None]
) -> None:
    with receiver() as found, receiver() as other:
        hooked(people[0], found.url, types=["game.started"])
        hook = hooked(people[1], other.url, types=["game.ended"])
        started(people)
        tell()
        deliver(house)
        assert [body["type"] for body in found.bodies] == ["game.started"]
        assert deliveries(people[1], hook) == []


def test_of_one_game_in_order_whoever_fails_is_tried_again(
    people: list[Person], house: Services, clock: Clock, tell: Callable[[], None]
) -> None:
    def answer(_number: int, body: Any) -> Any:
        is_down = broken and body["data"]["game"] == first
        return (503, {}) if is_down else (200, {})

    broken = True
    with receiver(answer) as found:
        hook = hooked(people[0], found.url, types=["game.started", "game.ended"])
        first = started(people, options={"rounds": 1})
        play_on(house, people, first, random.Random(1))
        second = started(people)
        tell()
        deliver(house)
        tried = [(body["type"], body["data"]["game"]) for body in found.bodies]
        assert sorted(tried) == sorted([("game.started", first), ("game.started", second)])
        waits = deliveries(people[0], hook)
        status = {(i["payload"]["data"]["game"], i["type"]): i["status"] for i in waits}
        assert status[first, "game.started"] == status[first, "game.ended"] == "pending"
        assert status[second, "game.started"] == "delivered"
        for attempt, delay in enumerate(DELAYS[:3], 1):
            failed = next(i for i in deliveries(people[0], hook) if i["attempts"] == attempt)
            assert (failed["last_status"], failed["status"]) == (503, "pending")
            due = datetime.fromisoformat(failed["next_at"]) - clock()
            assert 0.8 * delay - timedelta(seconds=5) < due < 1.2 * delay
            clock.ahead += 0.5 * delay
            deliver(house)
            assert len(found.requests) == 1 + attempt
            clock.ahead += delay
            deliver(house)
            assert len(found.requests) == 2 + attempt
        broken = False
        clock.ahead += 2 * DELAYS[3]
        deliver(house)
        types = [b["type"] for b in found.bodies if b["data"]["game"] == first]
        assert types == ["game.started"] * 5 + ["game.ended"]
        ids = {h["webhook-id"] for _, h, b in found.requests if first.encode() in b}
        assert len(ids) == 2


def test_after_days_it_is_given_up_and_the_next_goes_on(
    people: list[Person], house: Services, clock: Clock, tell: Callable[[], None]
) -> None:
    with receiver(lambda _n, body: (500 if body["type"] == "game.started" else 200, {})) as found:
        hook = hooked(people[0], found.url, types=["game.started", "game.ended"])
        game = started(people, options={"rounds": 1})
        play_on(house, people, game, random.Random(2))
        tell()
        for delay in (*DELAYS, timedelta(0)):
            deliver(house)
            clock.ahead += 1.3 * delay
        deliver(house)
        listed = deliveries(people[0], hook)
        assert [(i["status"], i["attempts"]) for i in listed] == [
            ("failed", len(DELAYS) + 1),
            ("delivered", 1),
        ]
        assert people[0].get(f"/webhooks/{hook['id']}").get_json()["failing_since"] is None
        path = f"/webhooks/{hook['id']}/deliveries/{listed[0]['id']}/redelivery"
        again = people[0].post(path)
        assert (again.status_code, again.get_json()["status"]) == (202, "pending")
        before = len(found.requests)
        deliver(house)
        assert len(found.requests) == before + 1
        assert found.requests[-1][1]["webhook-id"] == listed[0]["id"]
        assert deliveries(people[0], hook)[0]["status"] == "pending"
    assert sum(DELAYS, timedelta(0)) > timedelta(days=3)


def test_who_says_to_wait_is_waited_for_and_who_is_gone_is_left_alone(
    people: list[Person], house: Services, clock: Clock, tell: Callable[[], None]
) -> None:
    answers = iter([(429, {"Retry-After": "3000"}), (410, {})])
    with receiver(lambda _n, _b: next(answers)) as found:
        hook = hooked(people[0], found.url, types=["game.started"])
        started(people)
        tell()
        deliver(house)
        due = datetime.fromisoformat(deliveries(people[0], hook)[0]["next_at"]) - clock()
        assert timedelta(seconds=2900) < due <= timedelta(seconds=3000)
        clock.ahead += timedelta(seconds=3001)
        deliver(house)
        gone = people[0].get(f"/webhooks/{hook['id']}").get_json()
        assert (gone["enabled"], gone["disabled_reason"]) == (False, "gone")
        started(people)
        tell()
        clock.ahead += timedelta(days=1)
        deliver(house)
        assert len(found.requests) == 2
        found.answer = lambda _n, _b: (200, {})
        enabled = people[0].client.patch(
            f"/webhooks/{hook['id']}", json={"enabled": True}, headers=people[0].headers
        )
        assert enabled.get_json()["enabled"] is True
        deliver(house)
        assert len(found.requests) == 3


def test_who_fails_for_days_is_disabled(
    people: list[Person], house: Services, clock: Clock, tell: Callable[[], None]
) -> None:
    with receiver(lambda _n, _b: (500, {})) as found:
        hook = hooked(people[0], found.url)
        started(people)
        tell()
        deliver(house)
        clock.ahead += PATIENCE + timedelta(hours=1)
        deliver(house)
        seen = people[0].get(f"/webhooks/{hook['id']}").get_json()
        assert (seen["enabled"], seen["disabled_reason"]) == (False, "failing")


def test_a_courier_that_dies_leaves_its_deliveries_to_the_next(
    people: list[Person], house: Services, clock: Clock, tell: Callable[[], None]
) -> None:
    with receiver() as found:
        hooked(people[0], found.url, types=["game.started"])
        started(people)
        tell()
        claimed = claim_deliveries(
            house.database, clock(), Wanted(lease=LEASE, limit=8, each=2, each_player=8)
        )
        assert found.url in [one.url for one in claimed]
        deliver(house)
        assert found.requests == []
        clock.ahead += LEASE + timedelta(seconds=1)
        deliver(house)
        assert len(found.requests) == 1


def test_many_couriers_deliver_each_once(
    people: list[Person], house: Services, tell: Callable[[], None]
) -> None:
    with receiver() as found:
        hooked(people[0], found.url, types=["game.started"])
        for _ in range(6):
            started(people)
        tell()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: deliver(house), range(4)))
        ids = [headers["webhook-id"] for _, headers, _ in found.requests]
        assert len(ids) == len(set(ids)) == 6


def test_who_is_slow_keeps_nobody_else_waiting(
    people: list[Person], house: Services, tell: Callable[[], None]
) -> None:
    held = threading.Event()
    with (
        receiver(lambda _n, _b: (held.wait(10) and 200, {})) as slow,
        receiver() as quick,
    ):
        hooked(people[0], slow.url, types=["game.started"])
        hooked(people[1], quick.url, types=["game.started"])
        for _ in range(6):
            started(people)
        tell()
        courier = Courier(house)
        deadline = time.monotonic() + 8
        while len(quick.requests) < 6:
            courier.run()
            time.sleep(0.01)
            assert time.monotonic() < deadline
        assert 1 <= len(slow.requests) <= 2
        held.set()
        courier.finish(5)


def test_a_secret_is_changed_without_a_gap(
    people: list[Person], house: Services, clock: Clock
) -> None:
    with receiver() as found:
        hook = hooked(people[0], found.url)
        key = fresh_key()
        made = people[0].post(f"/webhooks/{hook['id']}/secret", headers=key)
        assert made.status_code == 201
        assert made.get_json()["secret"] != hook["secret"]
        again = people[0].post(f"/webhooks/{hook['id']}/secret", headers=key)
        assert code(again) == (409, "secret_already_shown")
        people[0].post(f"/webhooks/{hook['id']}/test")
        deliver(house)
        for secret in (hook["secret"], made.get_json()["secret"]):
            assert verified(found, secret)[0]["type"] == "webhook.test"
        clock.ahead += timedelta(hours=25)
        found.requests.clear()
        people[0].post(f"/webhooks/{hook['id']}/test")
        deliver(house)
        assert len(found.requests[0][1]["webhook-signature"].split()) == 1


def test_a_test_is_delivered_once_for_a_key(people: list[Person], house: Services) -> None:
    with receiver() as found:
        hook = hooked(people[0], found.url)
        key = fresh_key()
        first = people[0].post(f"/webhooks/{hook['id']}/test", headers=key)
        again = people[0].post(f"/webhooks/{hook['id']}/test", headers=key)
        assert first.get_json()["id"] == again.get_json()["id"]
        assert again.headers["Idempotent-Replayed"] == "true"
        deliver(house)
        assert found.bodies[0]["data"] == {}
        assert len(found.requests) == 1


def test_a_signature_is_what_the_specification_says() -> None:
    secret, payload = b"k" * 32, '{"type":"game.turn"}'
    header = signatures([secret], "01j", 1_800_000_000, payload)
    at = datetime.fromtimestamp(1_800_000_000).astimezone()
    assert header.startswith("v1,")
    signed = Webhook(secret).sign("01j", at.replace(tzinfo=None), payload)
    assert len(signed) == len(header)


def test_webhooks_are_their_players_own(people: list[Person], client: FlaskClient) -> None:
    hook = hooked(people[0], "https://cards.example/hook", description="mine")
    path = f"/webhooks/{hook['id']}"
    assert [one["id"] for one in people[0].get("/webhooks").get_json()["items"]] == [hook["id"]]
    assert "secret" not in people[0].get(path).get_json()
    for method, at, body in (
        ("get", path, None),
        ("get", f"{path}/deliveries", None),
        ("post", f"{path}/secret", {}),
        ("post", f"{path}/test", {}),
        ("post", f"{path}/deliveries/{'0' * 26}/redelivery", {}),
        ("patch", path, {"enabled": False}),
        ("delete", path, None),
    ):
        sent = {} if body is None else {"json": body}
        answer = client.open(at, method=method.upper(), headers=people[1].headers, **sent)
        assert code(answer) == (404, "webhook_not_found"), at
        assert client.open(at, method=method.upper(), **sent).status_code == 401
    missing = people[0].post(f"{path}/deliveries/{'0' * 26}/redelivery")
    assert code(missing) == (404, "delivery_not_found")
    assert people[0].delete(path).status_code == 204
    assert code(people[0].delete(path)) == (404, "webhook_not_found")


def test_a_webhook_is_changed_in_parts(ilze: Person) -> None:
    hook = hooked(ilze, "https://cards.example/hook", types=["game.turn"])

    def change(**body: Any) -> Any:
        path = f"/webhooks/{hook['id']}"
        return ilze.client.patch(path, json=body, headers=ilze.headers).get_json()

    assert change()["url"] == "https://cards.example/hook"
    assert change(url="https://other.example/")["types"] == ["game.turn"]
    assert change(types=[])["types"] == []
    assert change(enabled=False)["disabled_reason"] == "asked"
    assert change(description="x")["enabled"] is False
    assert change(enabled=True)["disabled_reason"] is None
    assert change(url="x")["errors"][0]["pointer"] == "/url"
    assert change(nothing=1)["code"] == "validation_failed"
    ilze.delete(f"/webhooks/{hook['id']}")


def test_there_are_ten_at_most_and_a_retry_shows_no_secret_again(ilze: Person) -> None:
    key = fresh_key()
    body = {"url": "https://cards.example/hook"}
    assert ilze.post("/webhooks", body, headers=key).status_code == 201
    assert code(ilze.post("/webhooks", body, headers=key)) == (409, "secret_already_shown")
    for _ in range(9):
        hooked(ilze, "https://cards.example/hook")
    assert code(ilze.post("/webhooks", body)) == (409, "too_many_webhooks")
    page = ilze.get("/webhooks?limit=4").get_json()
    assert len(page["items"]) == 4
    assert page["next_cursor"]


def test_a_test_that_is_asked_for_twice_at_once_is_delivered_once(
    ilze: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook, key = hooked(ilze, "https://cards.example/hook"), fresh_key()
    path = f"/webhooks/{hook['id']}/test"
    first = ilze.post(path, {}, headers=key)
    looks = itertools.chain([lambda *_: None], itertools.repeat(idempotency.made_before))

    def looked(*asked: Any) -> Any:
        return next(looks)(*asked)

    monkeypatch.setattr(webhooks, "made_before", looked)
    second = ilze.post(path, {}, headers=key)  # it looked before the first had written
    assert (first.status_code, second.status_code) == (202, 202)
    assert second.get_json()["id"] == first.get_json()["id"]
    assert second.headers["Idempotent-Replayed"] == "true"
    ilze.delete(f"/webhooks/{hook['id']}")


def test_secrets_are_sealed_where_there_is_a_key(urls: Urls, ilze: Person) -> None:
    sealed = services_at(urls.service, allows_any_address=True)
    sealed = replace(sealed, database=replace(sealed.database, box=SecretBox(b"k" * 32)))
    made = webhooks.add_webhook(
        sealed, ilze.id, lambda: webhooks.WebhookRequest(url="http://127.0.0.1:2000/"), None
    )
    webhooks.deliver_test(sealed, ilze.id, made.webhook.id, None)
    found = [
        one
        for one in claim_deliveries(
            sealed.database, sealed.now(), Wanted(lease=LEASE, limit=50, each=5, each_player=50)
        )
        if one.webhook == made.webhook.id
    ]
    assert webhooks.secret_text(found[0].secrets[0]) == made.secret
    webhooks.delete_webhook(sealed, ilze.id, made.webhook.id)
    sealed.database.engine.dispose()


def test_old_deliveries_are_dropped(
    people: list[Person], house: Services, tell: Callable[[], None]
) -> None:
    made = hooked(people[0], "https://cards.example/hook")
    started(people)
    tell()
    assert deliveries(people[0], made)
    drop_old_deliveries(house.database, house.now() + timedelta(seconds=1))
    assert deliveries(people[0], made) == []


PRIVATE = [
    "127.0.0.1",
    "127.8.8.8",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "0.0.0.0",  # noqa: S104  not bound to
    "100.64.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "240.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd12::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "2002:7f00:1::",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "2001:db8::1",
    "2001::1",
    "x",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_are_not_public_are_known(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST.", "a.localhost", "db.internal", "x.local", "[::1]", "10.0.0.1"],
)
def test_hosts_that_can_not_be_public_are_refused_at_once(host: str) -> None:
    assert is_forbidden_host(host.strip("[]"))
    assert url_fault(f"https://{host}/x", allows_any=False) is not None
    assert url_fault(f"https://{host}/x", allows_any=True) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://cards.example/",
        "ftp://cards.example/",
        "https://",
        "https:///x",
        "https://a:b@cards.example/",
        "https://a@cards.example/",
        "https://cards.example/#x",
        "https://cards.example:22/",
        "https://cards.example:99999/",
        "https://[::1/",
        "//cards.example/",
        "cards.example",
    ],
)
def test_urls_that_are_none_are_refused(url: str) -> None:
    assert url_fault(url, allows_any=False) is not None


@pytest.mark.parametrize(
    "resolved",
    [
        ["127.0.0.1"],
        ["93.184.216.34", "10.0.0.1"],
        ["169.254.169.254"],
        ["::1"],
        ["fd00::1", "8.8.8.8"],
    ],
)
def test_no_name_leads_to_an_address_that_is_not_public(
    resolved: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the name stands for when it is connected to; nothing is connected to."""

    def look_up(*_: Any, **__: Any) -> Any:
        return [(0, 0, 0, "", (address, 443)) for address in resolved]

    def connect(*_: Any, **__: Any) -> Any:
        raise AssertionError("connected")

    monkeypatch.setattr(posting.socket, "getaddrinfo", look_up)
    monkeypatch.setattr(posting.socket, "create_connection", connect)
    with pytest.raises(Undeliverable, match="not a public one"):
        post("https://cards.example/", b"{}", {}, allows_any=False)


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f.0.0.1", "017700000001"])
def test_no_spelling_of_this_machine_leads_to_it(host: str) -> None:
    with receiver() as found:
        port = found.url.rsplit(":", 1)[1].split("/")[0]
        with pytest.raises(Undeliverable):
            post(f"https://{host}:{port}/", b"{}", {}, allows_any=False)
        assert found.requests == []


def test_a_redirect_is_no_success_and_is_not_followed() -> None:
    with receiver() as inner, receiver(lambda _n, _b: (302, {"Location": inner.url})) as outer:
        assert post(outer.url, b"{}", {}, allows_any=True) == Posted(302)
        assert inner.requests == []


def test_an_answer_that_trickles_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "SECONDS_AT_MOST", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        stop = threading.Event()

        def trickle() -> None:
            taken, _ = server.accept()
            with taken:
                while not stop.wait(0.05):
                    try:
                        taken.sendall(b"H")
                    except OSError:
                        return

        thread = threading.Thread(target=trickle)
        thread.start()
        began = time.monotonic()
        with pytest.raises(Undeliverable):
            post(f"http://127.0.0.1:{server.getsockname()[1]}/", b"{}", {}, allows_any=True)
        assert time.monotonic() - began < 3
        stop.set()
        thread.join(5)


def test_what_goes_wrong_with_a_connection_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(Undeliverable, match="refused"):
        post(f"http://127.0.0.1:{port}/", b"{}", {}, allows_any=True)
    with receiver() as found, pytest.raises(Undeliverable, match="TLS"):
        post(found.url.replace("http:", "https:"), b"{}", {}, allows_any=True)
    with pytest.raises(Undeliverable, match="https"):
        post("ftp://x/", b"{}", {}, allows_any=True)

    def nobody(*_: Any, **__: Any) -> Any:
        raise socket.gaierror

    monkeypatch.setattr(posting.socket, "getaddrinfo", nobody)
    with pytest.raises(Undeliverable, match="not found"):
        post("https://cards.example/", b"{}", {}, allows_any=False)
    assert ssl.create_default_context().check_hostname


def test_a_delivery_that_can_not_be_sent_says_why(
    people: list[Person], house: Services, tell: Callable[[], None]
) -> None:
    def refuse(*_: Any, **__: Any) -> Posted:
        message = "The host was not found."
        raise Undeliverable(message)

    hook = hooked(people[0], "https://cards.example/hook", types=["game.started"])
    started(people)
    tell()
    deliver(house, post=refuse)
    item = deliveries(people[0], hook)[0]
    assert (item["status"], item["last_status"], item["last_error"]) == (
        "pending",
        None,
        "The host was not found.",
    )
    people[0].delete(f"/webhooks/{hook['id']}")


def test_there_is_a_type_for_every_notice_and_no_other(ilze: Person) -> None:
    for kind in TYPES:
        hook = hooked(ilze, "https://cards.example/", types=[kind])
        ilze.delete(f"/webhooks/{hook['id']}")
    bad = ilze.post("/webhooks", {"url": "https://cards.example/", "types": ["game.card"]})
    assert code(bad) == (422, "validation_failed")
    assert opened(ilze)["status"] == "open"


@contextmanager
def dripping(words: bytes, *, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """A server that answers a byte at a time, for ever; before the handshake if there is none."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            taken, _ = server.accept()
            try:
                secured = context.wrap_socket(taken, server_side=True) if context else taken
                with secured:
                    for byte in itertools.cycle(words):
                        if stop.wait(0.05):
                            return
                        secured.sendall(bytes([byte]))
            except OSError:
                taken.close()

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            stop.set()
            thread.join(5)


def own_certificate(folder: Path) -> ssl.SSLContext:
    """A server's side of TLS, by a certificate of its own."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(utc_now() - timedelta(days=1))
        .not_valid_after(utc_now() + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    text = made.public_bytes(pem) + key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "own.pem").write_bytes(text)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "own.pem")
    return context


@pytest.mark.parametrize("is_secured", [False, True])
def test_who_drips_over_tls_is_hung_up_on(
    is_secured: bool,  # noqa: FBT001  a parameter
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(posting, "SECONDS_AT_MOST", 0.6)

    def trusting() -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context

    monkeypatch.setattr(posting.ssl, "create_default_context", trusting)
    context = own_certificate(tmp_path) if is_secured else None
    words = b"HTTP/1.1 100 Continue\r\n\r\n" if is_secured else b"\x16\x03\x03\x40\x00" + b"\0" * 99
    with dripping(words, context=context) as port:
        began = time.monotonic()
        with pytest.raises(Undeliverable):
            post(f"https://localhost:{port}/", b"{}", {}, allows_any=True)
        assert time.monotonic() - began < 3


def test_who_waits_longest_is_next_however_busy_others_are(
    people: list[Person], house: Services, clock: Clock, tell: Callable[[], None]
) -> None:
    urls = [f"https://cards.example/{number}" for number in range(5)]
    hooks = [hooked(people[0], url, types=["game.started"]) for url in urls[:4]]
    quiet = hooked(people[1], urls[4], types=["game.started"])
    started(people)
    tell()
    clock.ahead += timedelta(hours=1)
    for _ in range(6):
        started(people)
    later = Dispatcher(replace(house, now=clock))
    later.run()
    held, calls = threading.Event(), []

    def slow(url: str, *_: Any, **__: Any) -> Posted:
        calls.append(url)
        held.wait(10)
        return Posted(200)

    courier = Courier(house, post=slow)
    courier.run()
    deadline = time.monotonic() + 5
    while urls[4] not in calls:
        courier.run()
        assert time.monotonic() < deadline, calls
    assert sum(url in urls[:4] for url in calls) <= 4
    held.set()
    courier.finish(5)
    for person, hook in (*((people[0], hook) for hook in hooks), (people[1], quiet)):
        person.delete(f"/webhooks/{hook['id']}")


def test_a_secret_that_can_not_be_read_harms_no_other_webhook(
    people: list[Person], house: Services, tell: Callable[[], None]
) -> None:
    with receiver() as found:
        sealed = replace(house, database=replace(house.database, box=SecretBox(b"k" * 32)))
        lost = webhooks.add_webhook(
            sealed, people[0].id, lambda: webhooks.WebhookRequest(url=found.url), None
        )
        hooked(people[1], found.url, types=["game.started"])
        started(people)
        tell()
        deliver(house)
        assert [body["type"] for body in found.bodies] == ["game.started"]
        item = deliveries(people[0], {"id": lost.webhook.id})[0]
        assert (item["status"], item["last_error"]) == (
            "pending",
            "Its secret can't be read here: change it.",
        )
        people[0].delete(f"/webhooks/{lost.webhook.id}")


def test_what_is_under_way_is_not_delivered_again(
    people: list[Person], house: Services, clock: Clock
) -> None:
    with receiver(lambda _n, _b: (500, {})) as found:
        hook = hooked(people[0], found.url)
        made = people[0].post(f"/webhooks/{hook['id']}/test").get_json()
        path = f"/webhooks/{hook['id']}/deliveries/{made['id']}/redelivery"
        claim_deliveries(
            house.database, clock(), Wanted(lease=LEASE, limit=8, each=2, each_player=8)
        )
        assert people[0].post(path).get_json()["next_at"] > made["next_at"]
        clock.ahead += LEASE
        deliver(house)
        clock.ahead += 1.3 * DELAYS[1]
        deliver(house)
        resting = deliveries(people[0], hook)[0]
        assert (resting["attempts"], len(found.requests)) == (3, 2)
        assert people[0].post(path).get_json()["next_at"] < resting["next_at"]
        deliver(house)
        assert len(found.requests) == 3
