"""The proofs over HTTP: receipts, keys, the deal, exports, checkpoints, the verifier."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from api.test_games import code, opened, started
from conftest import Person, fresh_key, register, services_at
from flask.testing import FlaskClient
from play.test_checkpointing import rewrite
from play_through import play_on

from service.api.bodies import UPLOAD_BYTES_AT_MOST
from service.app import create_app
from service.play import proving
from service.play.checkpointing import Checkpointer
from service.play.services import Services
from service.proof.checkpoints import note_key, read_consistency, read_note
from service.proof.keys import PublicKey, read_keys
from service.proof.merkle import is_consistent
from service.proof.outside import Evidence
from service.proof.receipts import read_receipt
from service.proof.verdicts import Check, Outcome, Status
from service.proof.verify import verify
from service.store.schema import migrate

NDJSON = "application/x-ndjson"


@pytest.fixture
def people(someone: Callable[..., Person]) -> list[Person]:
    return [someone(name) for name in ("Ilze", "Jānis", "Anna")]


@pytest.fixture
def keys(client: FlaskClient) -> list[PublicKey]:
    return list(read_keys(client.get("/keys").get_json()))


@pytest.fixture
def ended(people: list[Person], services: Services) -> str:
    game = started(people, options={"rounds": 1})
    play_on(services, people, game, random.Random(7))
    return game


def assert_signed(receipt: Any, keys: list[PublicKey]) -> None:
    assert read_receipt(receipt).is_signed_by(keys[0])


def test_every_write_is_answered_with_a_receipt(
    people: list[Person], keys: list[PublicKey]
) -> None:
    one, two, three = people
    opening = {"ruleset": "jokers-go-boom", "seats": 3}
    key = fresh_key()
    made = one.post("/games", opening, headers=key).get_json()
    game = made["view"]["game"]
    assert made["receipt"] == one.post("/games", opening, headers=key).get_json()["receipt"]
    assert (made["receipt"]["seq"], made["receipt"]["hash"]) == (2, made["view"]["head"])
    key = fresh_key()
    seated = two.post(f"/games/{game}/seats", {}, headers=key).get_json()
    again = two.post(f"/games/{game}/seats", {}, headers=key).get_json()
    assert seated["receipt"] == again["receipt"]
    left = two.delete(f"/games/{game}/seats/2").get_json()
    assert left == two.delete(f"/games/{game}/seats/2").get_json()
    assert left["receipt"]["seq"] == 4
    two.post(f"/games/{game}/seats", {})
    given = one.put(f"/games/{game}/seats/1/contribution", {"contribution": "x"}).get_json()
    same = one.put(f"/games/{game}/seats/1/contribution", {"contribution": "x"}).get_json()
    assert given["receipt"] == same["receipt"]
    last = three.post(f"/games/{game}/seats", {}).get_json()
    mover = people[last["view"]["to_act"] - 1]
    move = {"move": mover.view(game)["legal_moves"][0]}
    key = fresh_key()
    moved = mover.post(f"/games/{game}/moves", move, headers=key).get_json()
    replayed = mover.post(f"/games/{game}/moves", move, headers=key).get_json()
    assert moved["receipt"] == replayed["receipt"]
    assert moved["receipt"]["seq"] == moved["version"]
    assert moved["receipt"]["hash"] == moved["events"][-1]["hash"]
    for answer in (made, seated, left, given, last, moved):
        assert_signed(answer["receipt"], keys)


def test_the_keys_are_listed_with_their_names_for_other_tools(client: FlaskClient) -> None:
    answer = client.get("/keys")
    listed = answer.get_json()
    (key,) = read_keys(listed)
    assert listed["keys"][0]["note_key"] == note_key(listed["origin"], key)
    assert listed["keys"][0]["valid_until"] is None
    assert answer.headers["Cache-Control"] == "no-cache"


def test_the_deal_is_told_in_full_once_the_game_has_ended(
    people: list[Person], services: Services
) -> None:
    game = opened(people[0])["game"]
    people[0].put(f"/games/{game}/seats/1/contribution", {"contribution": "mine"})
    people[1].post(f"/games/{game}/seats", {"contribution": ""})
    people[2].post(f"/games/{game}/seats", {"contribution": "ours"})
    running = people[0].get(f"/games/{game}/fairness").get_json()
    assert running["contributions"] == {"1": "mine", "2": "", "3": "ours"}
    assert running["protected_seats"] == [1, 3]
    assert (running["server_secret"], running["cut"], running["decks"]) == (None, None, [])
    play_on(services, people, game, random.Random(3))
    told = people[0].get(f"/games/{game}/fairness").get_json()
    events = people[0].get(f"/games/{game}/events?limit=200").get_json()["items"]
    assert told["commitment"] == events[0]["data"]["commitment"]
    cut = next(e["data"]["cut"] for e in events if e["type"] == "game_started")
    assert told["cut"][: len(cut)] == [shown["card"] for shown in cut]
    dealt = [e["data"] for e in events if e["type"] == "round_started"]
    assert [deck["cards"][21] for deck in told["decks"]][: len(dealt)] == [
        data["upcard"] for data in dealt
    ]
    assert len(told["decks"]) == 3
    assert all(len(set(deck["cards"])) == 54 for deck in told["decks"])


def test_a_game_that_never_started_has_no_decks(people: list[Person]) -> None:
    game = opened(people[0])["game"]
    people[0].delete(f"/games/{game}/seats/1")
    told = people[0].get(f"/games/{game}/fairness").get_json()
    assert len(told["server_secret"]) == 64
    assert (told["cut"], told["decks"]) == (None, [])
    text = people[0].get(f"/games/{game}/export").text
    assert verify(text).outcome is Outcome.VERIFIED


def test_an_export_is_verified_offline(ended: str, client: FlaskClient, keys: Any) -> None:
    answer = client.get(f"/games/{ended}/export")
    assert answer.mimetype == NDJSON
    assert f"fairdeal-{ended}.jsonl" in answer.headers["Content-Disposition"]
    report = verify(answer.text, Evidence(keys=keys))
    assert report.outcome is Outcome.VERIFIED
    assert report.game == ended
    events = []
    after = 0
    while True:
        page = client.get(f"/games/{ended}/events?after={after}&limit=200")
        events += page.get_json()["items"]
        after = page.get_json()["next_after"]
        if not page.get_json()["more"]:
            break
    assert [json.loads(line) for line in answer.text.splitlines()[1:-1]] == [
        {name: value for name, value in event.items() if name != "private"} for event in events
    ]
    tag = answer.headers["ETag"]
    unchanged = client.get(f"/games/{ended}/export", headers={"If-None-Match": tag})
    assert (unchanged.status_code, unchanged.data) == (304, b"")
    assert client.head(f"/games/{ended}/export").data == b""


def test_a_long_game_is_exported_part_by_part(
    people: list[Person], services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proving, "LINES_AT_ONCE", 7)
    game = started(people, options={"rounds": 2})
    play_on(services, people, game, random.Random(5))
    answer = people[0].get(f"/games/{game}/export")
    assert answer.content_length is None
    assert verify(answer.text).outcome is Outcome.VERIFIED


def test_an_export_that_lacks_events_breaks_off(
    people: list[Person], services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = opened(people[0])["game"]
    monkeypatch.setattr(proving, "read_lines", lambda *_: [])
    with pytest.raises(LookupError, match="lacks events after 0"):
        list(proving.export(services, None, game).lines)


def test_a_running_game_exports_what_is_public(people: list[Person]) -> None:
    game = started(people)
    texts = {person.get(f"/games/{game}/export").text for person in people}
    assert len(texts) == 1
    report = verify(texts.pop())
    assert report.outcome is Outcome.INCOMPLETE
    assert report.failure is None


def checkpoint(services: Services, folder: Path) -> int:
    """Sign and publish what there is; the size of the newest checkpoint."""
    checkpointer = Checkpointer(services, folder)
    while checkpointer.run():
        pass
    return read_note(proving.checkpoint_note(services, None)).checkpoint.size


def test_an_export_is_fixed_once_a_checkpoint_holds_it(
    ended: str, client: FlaskClient, services: Services, keys: Any, tmp_path: Path
) -> None:
    head = client.get(f"/games/{ended}").get_json()["head"]
    path = f"/games/{ended}/exports/{head}"
    before = client.get(path)
    assert before.headers["Cache-Control"] == "private, no-cache"
    assert json.loads(before.text.splitlines()[-1])["inclusion"] is None
    checkpoint(services, tmp_path)
    fixed = client.get(path)
    assert fixed.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    report = verify(fixed.text, Evidence(keys=keys))
    assert {verdict.status for verdict in report.verdicts} == {Status.PASSED}
    assert client.get(path).data == fixed.data == client.get(f"/games/{ended}/export").data
    tags = {client.get(f"/games/{ended}/export").headers["ETag"] for _ in range(2)}
    assert tags == {f'"{head}.1"'}


def test_the_past_of_a_game_is_exported_by_its_heads(
    people: list[Person], services: Services, keys: Any, tmp_path: Path
) -> None:
    game = started(people, options={"rounds": 1})
    early = people[0].view(game)
    checkpoint(services, tmp_path)
    play_on(services, people, game, random.Random(9))
    text = people[0].get(f"/games/{game}/exports/{early['head']}").text
    report = verify(text, Evidence(keys=keys))
    assert (report.events, report.failure) == (early["version"], None)
    assert report.verdicts[-1].status is Status.PASSED
    inside = people[0].get(f"/games/{game}/events?limit=5").get_json()["items"][4]["hash"]
    for head in (inside, "0" * 64, "x", early["head"].upper()):
        answer = people[0].get(f"/games/{game}/exports/{head}")
        assert code(answer) == (404, "head_not_found")


def test_the_replay_of_an_ended_game_is_the_same_for_everybody(
    people: list[Person], services: Services, client: FlaskClient, someone: Any
) -> None:
    game = started(people, options={"rounds": 1})
    early = people[0].view(game)["head"]
    assert code(people[0].get(f"/games/{game}/replays/{early}")) == (409, "game_not_over")
    play_on(services, people, game, random.Random(4))
    head = people[0].view(game)["head"]
    for query in ("", "?seat=2", "?seat=all", "?from=3&to=9&seat=1"):
        path = f"/games/{game}/replays/{head}{query}"
        answers = [person.get(path) for person in (*people, someone("Zane"))]
        assert {answer.data for answer in answers} == {client.get(path).data}
        assert answers[0].headers["Cache-Control"] == "public, max-age=31536000, immutable"
    whole = client.get(f"/games/{game}/replays/{head}?seat=all").get_json()
    hands = [seat.get("hand") for seat in whole["items"][-1]["view"]["seats"]]
    assert all(hand is not None for hand in hands)
    assert code(client.get(f"/games/{game}/replays/{early}")) == (409, "game_not_over")
    assert code(client.get(f"/games/{game}/replays/{head}?from=9999")) == (404, "version_not_found")


def test_a_private_games_proofs_are_its_players_own(
    ilze: Person, someone: Callable[..., Person], services: Services, tmp_path: Path
) -> None:
    bots = [{"seat": 2}, {"seat": 3}]
    game = opened(ilze, bots=bots, visibility="private", options={"rounds": 1})["game"]
    ilze.put(f"/games/{game}/seats/1/contribution", {"contribution": ""})
    play_on(services, [ilze], game, random.Random(2))
    checkpoint(services, tmp_path)
    head = ilze.view(game)["head"]
    stranger = someone("Zane")
    for part in ("fairness", "export", f"exports/{head}", f"replays/{head}"):
        own = ilze.get(f"/games/{game}/{part}")
        assert own.status_code == 200
        assert "public" not in own.headers["Cache-Control"]
        assert code(stranger.get(f"/games/{game}/{part}")) == (404, "game_not_found")
    fixed = ilze.get(f"/games/{game}/exports/{head}")
    assert fixed.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert fixed.headers["Vary"] == "Authorization"


def test_checkpoints_are_read_and_connected(
    people: list[Person], services: Services, client: FlaskClient, keys: Any, tmp_path: Path
) -> None:
    opened(people[0])
    old = checkpoint(services, tmp_path)
    opened(people[0])
    opened(people[0])
    new = checkpoint(services, tmp_path)
    assert new >= old + 2
    latest = client.get("/checkpoints/latest")
    assert latest.mimetype == "text/plain"
    assert client.get(f"/checkpoints/{new}").text == latest.text
    notes = [read_note(client.get(f"/checkpoints/{size}").text) for size in (old, new)]
    assert all(note.is_signed_by(keys) for note in notes)
    proof = read_consistency(client.get(f"/checkpoints/{new}/consistency?from={old}").get_json())
    roots = [note.checkpoint.root for note in notes]
    assert is_consistent(old, new, roots[0], roots[1], proof.path)
    for path in (
        f"/checkpoints/{new + 1000}",
        "/checkpoints/x",
        "/checkpoints/" + "9" * 40,
        f"/checkpoints/{old}/consistency?from={new}",
        f"/checkpoints/{new}/consistency?from={new + 1000}",
    ):
        assert code(client.get(path)) == (404, "checkpoint_not_found")
    assert code(client.get(f"/checkpoints/{new}/consistency")) == (400, "invalid_query")


def test_there_is_no_checkpoint_before_the_first(
    another_database: Callable[[], Any], description: Any
) -> None:
    urls = another_database()
    migrate(urls.owner)
    fresh = services_at(urls.service)
    app = create_app(fresh)
    app.test_client_class = description.checking_client()
    assert code(app.test_client().get("/checkpoints/latest")) == (404, "checkpoint_not_found")
    fresh.database.engine.dispose()


def test_an_export_is_verified_for_whoever_asks(ended: str, client: FlaskClient) -> None:
    text = client.get(f"/games/{ended}/export").text
    report = client.post("/verify", data=text, content_type=NDJSON).get_json()
    assert (report["outcome"], report["game"]) == ("verified", ended)
    assert [check["check"] for check in report["checks"]] == [check.value for check in Check]
    changed = text.replace('"seq":5', '"seq":6', 1)
    report = client.post("/verify", data=changed, content_type=NDJSON).get_json()
    assert report["outcome"] == "failed"
    assert [c["seq"] for c in report["checks"] if c["status"] == "failed"] == [5]
    for nothing in ("", "x", "\n", "{}\n"):
        report = client.post("/verify", data=nothing, content_type=NDJSON).get_json()
        assert (report["outcome"], report["game"]) == ("failed", None)


def test_an_exported_game_is_shown_by_its_file_alone(
    ended: str, people: list[Person], client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(text: str) -> Any:
        return client.post("/replays", data=text, content_type=NDJSON)

    def nameless(frame: Any) -> Any:
        view = frame["view"]
        seats = [{**seat, "player": {**seat["player"], "name": ""}} for seat in view["seats"]]
        return {**frame, "view": {**view, "seats": seats}}

    text = client.get(f"/games/{ended}/export").text
    answer = shown(text).get_json()
    last = min(40, answer["version"])
    stored = client.get(f"/games/{ended}/replay?seat=all&from=6&to={last}").get_json()
    assert [nameless(frame) for frame in answer["items"][5:last]] == [
        nameless(frame) for frame in stored["items"]
    ]
    assert answer["version"] == len(text.splitlines()) - 2
    running = client.get(f"/games/{started(people)}/export").text
    twisted = text.replace('"points":', '"point":', 1)
    for wrong in ("", "x", "{}\n", running, twisted):
        assert code(shown(wrong)) == (422, "not_replayable")
    monkeypatch.setattr(proving, "REPLAY_CHARS_AT_MOST", 1_000)
    assert code(shown(text)) == (422, "not_replayable")
    with proving.VERIFYING:
        assert code(shown(text)) == (503, "verifier_busy")


def test_an_upload_is_bounded(client: FlaskClient) -> None:
    large = b"x" * (UPLOAD_BYTES_AT_MOST + 1)
    assert code(client.post("/verify", data=large, content_type=NDJSON)) == (413, "body_too_large")
    wrong = client.post("/verify", json={})
    assert code(wrong) == (415, "unsupported_media_type")
    assert NDJSON in wrong.get_json()["detail"]
    binary = client.post("/verify", data=b"\xff", content_type=NDJSON)
    assert code(binary) == (400, "malformed_json")


def test_one_log_at_a_time_is_verified(client: FlaskClient) -> None:
    with proving.VERIFYING:
        answer = client.post("/verify", data="x", content_type=NDJSON)
    assert code(answer) == (503, "verifier_busy")
    assert answer.headers["Retry-After"] == "1"


def test_nothing_is_signed_because_it_stands_in_the_database(
    ended: str, client: FlaskClient, owner: Any, keys: Any
) -> None:
    with owner.transaction():
        owner.execute("ALTER TABLE events DISABLE TRIGGER refuse_rewriting")
        owner.execute(
            "UPDATE events SET signed_with = NULL, signature = NULL WHERE game_id = %s", [ended]
        )
        owner.execute("ALTER TABLE events ENABLE TRIGGER refuse_rewriting")
    text = client.get(f"/games/{ended}/export").text
    assert json.loads(text.splitlines()[-1])["receipt"] is None
    report = verify(text, Evidence(keys=keys))
    assert report.failure is not None
    assert report.failure.check is Check.SIGNATURE


def test_a_tree_that_was_tampered_with_proves_nothing(
    another_database: Callable[[], Any], tmp_path: Path, description: Any
) -> None:
    urls = another_database()
    migrate(urls.owner)
    own = services_at(urls.service)
    app = create_app(own)
    app.test_client_class = description.checking_client()
    client = app.test_client()
    person = register(client)
    games = [opened(person)["game"] for _ in range(3)]
    size = checkpoint(own, tmp_path)
    kept = client.get("/checkpoints/latest").text
    bogus = kept.replace(f"\n{size}\n", "\n99\n")
    rewrite(urls, "INSERT INTO checkpoints VALUES (99, %s, now()), (98, 'x', now())", bogus)
    assert client.get("/checkpoints/latest").text == kept
    for path in ("/checkpoints/99", "/checkpoints/98", f"/checkpoints/99/consistency?from={size}"):
        assert code(client.get(path)) == (404, "checkpoint_not_found")
    opened(person)
    assert checkpoint(own, tmp_path) == size + 1
    assert not (tmp_path / f"{99:020}.txt").exists()
    rewrite(urls, "DELETE FROM tree_nodes WHERE level = 0")
    answer = client.get(f"/games/{games[0]}/export")
    assert json.loads(answer.text.splitlines()[-1])["inclusion"] is None
    path = f"/checkpoints/{size + 1}/consistency?from={size}"
    assert code(client.get(path)) == (404, "checkpoint_not_found")
    rewrite(urls, "UPDATE checkpoints SET note = 'x'")
    assert client.get(f"/games/{games[0]}/export").status_code == 200
    own.database.engine.dispose()
