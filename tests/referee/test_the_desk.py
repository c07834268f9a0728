"""The referee's story, over HTTP: from an illegal attempt to a ruling that verifiers follow."""

import json
import random
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import psycopg
import pytest
from api.test_games import code, mover, opened, started
from conftest import Person, fresh_key
from flask.testing import FlaskClient
from play_through import play_on
from referee.desk import WHY, Referee, engines, referee
from signing import KEYRING
from sqlalchemy import Engine

from service.api.pages import encode_cursor
from service.cli.analysing import drawn
from service.play import analysing, looking
from service.play.admins import ADMIN_AUDIT, ADMIN_HIDDEN, ADMIN_READ, ADMIN_RULE, ADMIN_SCOPES
from service.play.presence import Present, say_present
from service.play.services import Services, utc_now
from service.proof.outside import Evidence
from service.proof.trail import first_break
from service.proof.verdicts import Outcome
from service.proof.verify import verify
from service.store import audit
from service.store.attempts import drop_old_attempts
from service.store.database import StoreUnavailable
from service.store.embedded import Urls
from service.store.looks import games_to_disclose

VERIFIER = Path(__file__).parents[1] / "proof" / "verify.mjs"


@pytest.fixture
def people(someone: Callable[..., Person]) -> list[Person]:
    return [someone(name) for name in ("Ilze", "Jānis", "Anna", "Zane")]


@pytest.fixture
def engine(urls: Urls) -> Iterator[Engine]:
    yield from engines(urls)


@pytest.fixture
def admin(engine: Engine, client: FlaskClient) -> Referee:
    return referee(engine, client)


def table(people: list[Person], **body: Any) -> str:
    """A game of four, started."""
    game: str = opened(people[0], seats=4, **body)["game"]
    for person in people[1:]:
        person.post(f"/games/{game}/seats")
    return game


def moved(people: list[Person], game: str, times: int = 1) -> None:
    for _ in range(times):
        turn = mover(people, game)
        assert turn.move(game, turn.view(game)["legal_moves"][0]).status_code == 201


def filed(person: Person, game: str, *seqs: int, **body: Any) -> Any:
    asked = {"reason": "rules", "seqs": list(seqs), "statement": "That was no move.", **body}
    answer = person.post(f"/games/{game}/disputes", asked, headers=fresh_key())
    assert answer.status_code == 201, answer.text
    return answer.get_json()["dispute"]


def check_both(client: FlaskClient, game: str, folder: Path) -> list[Any]:
    """Both verifiers find the game as it should be; its events."""
    text = client.get(f"/games/{game}/export").text
    report = verify(text, Evidence(keys=KEYRING.public_keys()))
    assert report.outcome is Outcome.VERIFIED, report
    vectors = json.loads((VERIFIER.parents[1] / "vectors" / "fairness.json").read_text())
    keys = [key.to_json() for key in KEYRING.public_keys()]
    given = folder / "given.json"
    given.write_text(json.dumps({"vectors": vectors, "cases": [{"text": text, "keys": keys}]}))
    ran = subprocess.run(["node", VERIFIER, given], capture_output=True, text=True, check=True)
    checks = json.loads(ran.stdout)["reports"][0]["checks"]
    assert "failed" not in [check["status"] for check in checks], checks
    return [json.loads(line) for line in text.splitlines()[1:-1]]


@pytest.mark.parametrize("ruleset", ["jokers-go-boom", "crazy-rummy"])
def test_a_dispute_from_an_illegal_attempt_to_a_ruling_with_a_rewind(  # noqa: PLR0915  a story
    ruleset: str,
    people: list[Person],
    admin: Referee,
    services: Services,
    client: FlaskClient,
    tmp_path: Path,
) -> None:
    game = table(
        people,
        ruleset=ruleset,
        options={"rounds": 1},
        hold_on_dispute=True,
        turn_seconds=600,
    )
    moved(people, game, 4)
    turn = mover(people, game)
    own = [card for seat in turn.view(game)["seats"] for card in seat.get("hand") or ()]
    missing = next(card for card in (f"{rank}c" for rank in range(2, 10)) if card not in own)
    illegal = {"type": "pass"}
    if ruleset == "crazy-rummy":
        illegal = {"type": "discard", "card": missing}
    assert code(turn.move(game, illegal))[1] in ("illegal_move", "validation_failed")
    disputed = turn.view(game)["version"]
    moved(people, game, 3)

    dispute = filed(people[1], game, disputed)
    held = people[0].view(game)
    assert (held["status"], held["to_act"], held["deadline_at"]) == ("held", None, None)
    stuck = turn.move(game, {"type": "pass"})
    assert code(stuck)[1] in ("game_not_active", "validation_failed")
    for person in people:
        assert person.get(f"/disputes/{dispute['id']}").get_json()["statement"] == (
            "That was no move."
        )
    people[2].post(f"/disputes/{dispute['id']}/messages", {"body": "It was one."})

    timeline = admin.call("GET", f"/games/{game}/timeline?limit=200").get_json()["items"]
    attempt = next(item["attempt"] for item in timeline if item["kind"] == "attempt")
    assert attempt["player"] == turn.id
    assert "moves" not in attempt
    read = admin.call("PATCH", f"/disputes/{dispute['id']}", {"assignee": "me"})
    assert code(read) == (412, "edit_conflict")
    seen = admin.call("GET", f"/disputes/{dispute['id']}")
    tag = {"If-Match": seen.headers["ETag"]}
    taken = {"status": "under_review", "assignee": "me"}
    assert admin.call("PATCH", f"/disputes/{dispute['id']}", taken, **tag).status_code == 200
    assert code(admin.call("PATCH", f"/disputes/{dispute['id']}", taken, **tag)) == (
        412,
        "edit_conflict",
    )
    hidden = admin.call(
        "POST", f"/games/{game}/hidden-reads", {"reason": WHY, "at": disputed, "seats": [2]}
    ).get_json()
    hands = [seat.get("hand") for seat in hidden["seats"]]
    assert [hand is not None for hand in hands] == [False, True, False, False]
    assert hidden["viewer"] == {"role": "admin", "seat": None}
    known = hidden["knowledge"][0]
    places = known["unseen_in"]
    assert known["hand"] == hands[1]
    assert len(known["unseen"]) == places["stock"] + sum(places["hands"].values())
    tried = admin.call(
        "POST", f"/games/{game}/what-if", {"at": disputed, "moves": [illegal], "reason": WHY}
    ).get_json()
    assert [move["legal"] for move in tried["moves"]] == [False]

    remedy = {"kind": "rewind", "to": disputed}
    dry = admin.rule(dispute["id"], remedy, dry_run=True).get_json()["preview"]
    assert dry["events"][:2] == ["ruling", "rewound"]
    assert people[0].view(game)["version"] == held["version"]
    ruled = admin.rule(dispute["id"], remedy, private_note="Seen before.")
    assert ruled.status_code == 201, ruled.text
    types = [event["type"] for event in ruled.get_json()["events"]]
    assert types[:3] == ["ruling", "rewound", "game_resumed"]
    case = people[3].get(f"/disputes/{dispute['id']}").get_json()
    assert (case["status"], case["rulings"][0]["public_reason"]) == ("resolved", "So it is.")
    assert "Seen before." not in json.dumps(case)
    now = people[0].view(game)
    assert now["status"] == "active"
    then = people[0].get(f"/games/{game}?at={disputed}").get_json()
    assert [seat["cards"] for seat in now["seats"]] == [seat["cards"] for seat in then["seats"]]

    services.games.drop(game)
    play_on(services, people, game, random.Random(3))
    assert games_to_disclose(services.database, 500)
    assert looking.disclose_reads(services, game)
    assert not looking.disclose_reads(services, game)
    events = check_both(client, game, tmp_path)
    disclosed = [event["data"] for event in events if event["type"] == "hidden_read_disclosed"]
    assert [(one["version"], one["seats"]) for one in disclosed] == [
        (disputed, [2]),
        (disputed, [1, 2, 3, 4]),
    ]
    replay = client.get(f"/games/{game}/replay?seat=all&from={disputed}").get_json()
    assert replay["abandoned"][0][0] == disputed + 1
    whole = admin.call("GET", f"/games/{game}/timeline?kind=attempt").get_json()["items"]
    assert whole[0]["attempt"]["moves"] == [illegal]
    after = admin.call("POST", f"/games/{game}/what-if", {"at": disputed, "moves": []})
    assert after.status_code == 200


@pytest.mark.parametrize("is_over", [False, True])
def test_the_same_with_a_void_and_with_adjusted_scores(
    *,
    is_over: bool,
    people: list[Person],
    admin: Referee,
    services: Services,
    client: FlaskClient,
    tmp_path: Path,
) -> None:
    for remedy in (
        {"kind": "void"},
        {"kind": "adjust_scores", "scores": {"1": 99, "2": 1, "3": 50, "4": 50}},
    ):
        game = table(people, options={"rounds": 1})
        moved(people, game, 2)
        if is_over:
            play_on(services, people, game, random.Random(6))
        dispute = filed(people[0], game, reason="deal")
        ruled = admin.rule(dispute["id"], remedy)
        assert ruled.status_code == 201, ruled.text
        if remedy["kind"] == "void":
            assert people[0].view(game)["status"] == "voided"
        elif not is_over:
            assert [seat["score"] for seat in people[0].view(game)["seats"]] == [99, 1, 50, 50]
            play_on(services, people, game, random.Random(7))
        else:
            assert people[0].view(game)["result"]["winners"] == [2]
        services.games.drop(game)
        assert people[0].view(game)["result"] is not None
        check_both(client, game, tmp_path)


def test_other_remedies_while_a_game_runs(
    people: list[Person], admin: Referee, client: FlaskClient, tmp_path: Path
) -> None:
    game = table(people, options={"rounds": 2}, turn_seconds=600)
    moved(people, game, 2)
    remedies = (
        {"kind": "redeal"},
        {"kind": "extend_clock", "seconds": 300},
        {"kind": "replace_seat", "seat": 3},
    )
    dispute = filed(people[0], game)
    ruled = admin.rule(dispute["id"], *remedies)
    types = [event["type"] for event in ruled.get_json()["events"]]
    assert types[:4] == ["ruling", "round_started", "seat_replaced", "clock_extended"]
    assert people[0].view(game)["seats"][2]["player"]["kind"] == "bot"
    last = filed(people[1], game)
    awarded = admin.rule(last["id"], {"kind": "award", "standings": [[2], [1, 3], [4]]})
    assert awarded.status_code == 201, awarded.text
    result = people[0].view(game)["result"]
    assert (result["reason"], result["winners"]) == ("awarded", [2])
    check_both(client, game, tmp_path)


def test_a_remedy_that_does_not_fit_changes_nothing(
    people: list[Person], admin: Referee, services: Services
) -> None:
    game = table(people, options={"rounds": 1})
    moved(people, game, 3)
    dispute, version = filed(people[0], game)["id"], people[0].view(game)["version"]
    for remedies, index in (
        ([{"kind": "rewind", "to": 2}], 0),
        ([{"kind": "none"}, {"kind": "rewind", "to": version + 9}], 1),
        ([{"kind": "redeal", "round": 7}], 0),
        ([{"kind": "redeal"}, {"kind": "void"}], 1),
        ([{"kind": "extend_clock", "seconds": 60}], 0),
        ([{"kind": "adjust_scores", "scores": {"1": 1}}], 0),
        ([{"kind": "replace_seat", "seat": 9}], 0),
        ([{"kind": "award", "standings": [[1], [2]]}], 0),
        ([{"kind": "void"}, {"kind": "replace_seat", "seat": 1}], 1),
        ([{"kind": "void"}, {"kind": "extend_clock", "seconds": 5}], 1),
        ([{"kind": "award", "standings": [[1], [2], [3], [4]]}, {"kind": "none"}], 1),
    ):
        refused = admin.rule(dispute, *remedies)
        assert code(refused) == (422, "remedy_not_possible"), refused.text
        assert refused.get_json()["index"] == index
    rejected = admin.rule(dispute, {"kind": "void"}, outcome="rejected")
    assert code(rejected) == (422, "remedy_not_possible")
    assert people[0].view(game)["version"] == version
    no_key = admin.call(
        "POST",
        f"/disputes/{dispute}/rulings",
        {"outcome": "rejected", "public_reason": "No."},
    )
    assert code(no_key) == (428, "precondition_required")
    play_on(services, people, game, random.Random(8))
    for kind in ({"kind": "rewind", "to": version}, {"kind": "redeal"}):
        assert code(admin.rule(dispute, kind)) == (422, "remedy_not_possible")
    assert admin.rule(dispute, outcome="rejected").status_code == 201
    assert code(admin.rule(dispute)) == (409, "dispute_closed")


def test_a_ruling_is_made_once_for_a_key(people: list[Person], admin: Referee) -> None:
    game = table(people)
    dispute, key = filed(people[0], game)["id"], fresh_key()
    body = {"outcome": "upheld", "remedies": [{"kind": "none"}], "public_reason": "So it is."}
    path = f"/disputes/{dispute}/rulings"
    first, again = (admin.call("POST", path, body, **key) for _ in range(2))
    assert first.get_json()["version"] == again.get_json()["version"]
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(again.get_json()["dispute"]["rulings"]) == 1


def test_a_seat_files_one_dispute_at_a_time(people: list[Person], someone: Any) -> None:
    game = table(people)
    key = fresh_key()
    asked = {"reason": "other", "statement": "x"}
    first = people[0].post(f"/games/{game}/disputes", asked, headers=key)
    again = people[0].post(f"/games/{game}/disputes", asked, headers=key)
    assert first.get_json()["dispute"]["id"] == again.get_json()["dispute"]["id"]
    assert again.headers["Idempotent-Replayed"] == "true"
    refused = people[0].post(f"/games/{game}/disputes", asked)
    assert code(refused) == (409, "dispute_stands")
    assert filed(people[1], game)["seat"] == 2
    assert code(someone("Oto").post(f"/games/{game}/disputes", asked)) == (403, "not_seated")
    early = opened(people[0])["game"]
    assert code(people[0].post(f"/games/{early}/disputes", asked)) == (409, "game_not_active")
    late = people[2].post(f"/games/{game}/disputes", {**asked, "seqs": [99_999]})
    assert late.get_json()["errors"][0]["pointer"] == "/seqs"


def test_a_dispute_is_withdrawn_and_its_game_goes_on(people: list[Person]) -> None:
    game = table(people, hold_on_dispute=True)
    for _ in range(5):
        dispute = filed(people[0], game)["id"]
        assert people[0].view(game)["status"] == "held"
        assert code(people[1].post(f"/disputes/{dispute}/withdrawal")) == (
            404,
            "dispute_not_found",
        )
        for _ in range(2):
            assert people[0].post(f"/disputes/{dispute}/withdrawal").status_code == 200
        assert people[0].view(game)["status"] == "active"
        said = people[0].post(f"/disputes/{dispute}/messages", {"body": "late"})
        assert code(said) == (409, "dispute_closed")
    asked = {"reason": "other", "statement": "x"}
    assert code(people[0].post(f"/games/{game}/disputes", asked)) == (409, "dispute_stands")


def test_a_ruling_is_appealed_once(people: list[Person], admin: Referee) -> None:
    game = table(people)
    dispute = filed(people[0], game)["id"]
    path = f"/disputes/{dispute}/appeal"
    assert code(people[0].post(path, {"body": "early"})) == (409, "dispute_closed")
    admin.rule(dispute, outcome="rejected")
    assert code(people[1].post(path, {"body": "not mine"})) == (404, "dispute_not_found")
    again = people[0].post(path, {"body": "Look again."}).get_json()
    assert (again["status"], again["is_appealed"]) == ("open", True)
    assert again["messages"][-1]["body"] == "Look again."
    assert admin.rule(dispute).status_code == 201
    assert code(people[0].post(path, {"body": "once more"})) == (409, "dispute_closed")
    log = people[0].get(f"/games/{game}/events?limit=200").get_json()["items"]
    kinds = [event["type"] for event in log if event["type"] in ("dispute_opened", "ruling")]
    assert kinds == ["dispute_opened", "ruling"] * 2


def test_an_admin_who_has_a_part_in_a_game_is_no_referee_of_it(
    people: list[Person], engine: Engine, client: FlaskClient
) -> None:
    game = table(people)
    dispute = filed(people[0], game)["id"]
    own = referee(engine, client, players=[people[2].id])
    read = own.call("POST", f"/games/{game}/hidden-reads", {"reason": WHY})
    assert code(read) == (403, "conflict_of_interest")
    tried = {"at": 6, "moves": [], "reason": WHY}
    assert code(own.call("POST", f"/games/{game}/what-if", tried)) == (403, "conflict_of_interest")
    for dry in (False, True):
        assert code(own.rule(dispute, dry_run=dry)) == (403, "conflict_of_interest")


def test_a_game_is_held_and_let_go(people: list[Person], admin: Referee) -> None:
    game = table(people, turn_seconds=600)
    for _ in range(2):
        assert admin.call("POST", f"/games/{game}/hold", {}).get_json()["status"] == "held"
    assert people[0].view(game)["deadline_at"] is None
    for _ in range(2):
        assert admin.call("POST", f"/games/{game}/resume", {}).get_json()["status"] == "active"
    moved(people, game)
    report = admin.call("POST", f"/games/{game}/verify", {}).get_json()
    assert "failed" not in [check["status"] for check in report["checks"]]
    early = opened(people[0])["game"]
    for path in ("hold", "resume"):
        refused = admin.call("POST", f"/games/{early}/{path}", {})
        assert code(refused) == (409, "game_not_active")


def test_what_if_stops_where_a_card_of_a_running_game_would_be_shown(
    people: list[Person], admin: Referee, services: Services
) -> None:
    game = table(people, ruleset="crazy-rummy", options={"rounds": 1})
    turn = mover(people, game)
    discards = [m for m in turn.view(game)["legal_moves"] if m["type"] == "discard"]
    turn.move(game, discards[0])
    version = people[0].view(game)["version"]
    draw = {"type": "draw", "from": "stock"}
    asked = {"at": version, "moves": [draw, {"type": "discard", "card": "2c"}, {"type": "?"}]}
    assert code(admin.call("POST", f"/games/{game}/what-if", asked)) == (422, "validation_failed")
    running = admin.call("POST", f"/games/{game}/what-if", {**asked, "reason": WHY}).get_json()
    assert [(move["legal"], move["reveals"]) for move in running["moves"]] == [(True, True)], (
        running
    )
    play_on(services, people, game, random.Random(9))
    ended = admin.call("POST", f"/games/{game}/what-if", asked).get_json()
    assert ended["moves"][0]["reveals"] is False
    assert len(ended["moves"]) >= 2
    bad = admin.call("POST", f"/games/{game}/what-if", {"at": version, "moves": [{"type": "?"}]})
    assert bad.get_json()["moves"][0]["legal"] is False
    late = admin.call("POST", f"/games/{game}/what-if", {"at": 10**6, "moves": []})
    assert code(late) == (404, "version_not_found")


def test_the_timeline_is_paged_in_order_of_time(people: list[Person], admin: Referee) -> None:
    game = table(people)
    for _ in range(3):
        turn = mover(people, game)
        turn.move(game, {"type": "pass"})
        moved(people, game)
    path = f"/games/{game}/timeline"
    whole = admin.call("GET", f"{path}?limit=200").get_json()["items"]
    assert [item["at"] for item in whole] == sorted(item["at"] for item in whole)
    assert [item["kind"] for item in whole].count("attempt") == 3
    cursor, read = "", []
    while cursor is not None:
        query = f"?limit=2&cursor={cursor}" if cursor else "?limit=2"
        page = admin.call("GET", path + query).get_json()
        read += page["items"]
        cursor = page["next_cursor"]
    assert read == whole
    nul = encode_cursor("2026-01-01T00:00:00+00:00 event \0")
    naive = encode_cursor("2026-01-01T00:00:00 event 0000000001")
    for bad in ("x", "!!", "YWJj", nul, naive):
        assert code(admin.call("GET", f"{path}?cursor={bad}")) == (400, "invalid_query")


def test_the_timeline_tells_of_replays_of_keys_and_of_who_came_and_went(
    people: list[Person], admin: Referee, services: Services
) -> None:
    game = table(people)
    turn, key = mover(people, game), fresh_key()
    move = {"move": turn.view(game)["legal_moves"][0]}
    for _ in range(2):
        assert turn.post(f"/games/{game}/moves", move, headers=key).status_code == 201
    here, there = Present(process="here"), Present(process="there")
    for pairs in ({(game, turn.id)}, {(game, turn.id)}, set()):
        say_present(services, here, pairs)
    say_present(services, here, {(game, turn.id)})
    say_present(services, there, {(game, turn.id)})  # in another process: nobody came
    say_present(services, here, set())  # and nobody went
    path = f"/games/{game}/timeline"
    replays = admin.call("GET", f"{path}?kind=replay").get_json()["items"]
    assert [(one["replay"]["code"], one["replay"]["player"]) for one in replays] == [
        ("replayed", turn.id)
    ]
    assert "moves" not in replays[0]["replay"]
    assert replays[0]["replay"]["key_label"] is not None
    came = admin.call("GET", f"{path}?kind=connection").get_json()["items"]
    told = [one["connection"] for one in came]
    assert [one["came"] for one in told] == [True, False, True]
    assert {one["player"] for one in told} == {turn.id}
    assert not admin.call("GET", f"{path}?kind=attempt").get_json()["items"]
    drop_old_attempts(services.database, utc_now() + timedelta(days=1))
    assert not admin.call("GET", f"{path}?kind=connection").get_json()["items"]


@contextmanager
def away(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The trail can't be written."""

    def fail(*_: Any) -> Any:
        raise StoreUnavailable

    with monkeypatch.context() as patched:
        patched.setattr("service.play.admins.add_line", fail)
        patched.setattr("service.store.looks.note", fail)
        yield


def test_what_can_not_be_written_into_the_trail_is_not_done(
    people: list[Person], admin: Referee, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = table(people)
    dispute = filed(people[0], game)["id"]
    version = people[0].view(game)["version"]
    with away(monkeypatch):
        for method, path, body in (
            ("GET", "/disputes", None),
            ("GET", f"/disputes/{dispute}", None),
            ("GET", f"/games/{game}/timeline", None),
            ("POST", f"/games/{game}/hidden-reads", {"reason": WHY}),
            ("POST", f"/games/{game}/hold", {}),
            ("GET", "/audit", None),
        ):
            answer = admin.call(method, path, body)
            assert code(answer) == (503, "database_unavailable"), path
            assert "hand" not in answer.text
    assert people[0].view(game)["version"] == version


def test_the_trail_holds_all_that_admins_did_and_shows_what_was_changed_in_it(
    people: list[Person], admin: Referee, urls: Urls, services: Services
) -> None:
    game = table(people)
    admin.call("POST", f"/games/{game}/hidden-reads", {"reason": WHY, "seats": [1]})
    page = admin.call("GET", "/audit?limit=5").get_json()["items"]
    assert [line["action"] for line in page[:3]] == ["readTrail", "hidden-read", "readHidden"]
    assert page[1]["facts"]["reason"] == WHY
    assert {line["admin"] for line in page[:3]} == {admin.id}
    text = admin.call("GET", "/audit/export").text
    lines = text.splitlines()
    assert first_break(lines) is None
    middle = len(lines) // 2
    changed = lines[middle].replace('"admin":"0', '"admin":"1')
    for name, trail in (
        ("changed", [*lines[:middle], changed, *lines[middle + 1 :]]),
        ("dropped", [*lines[:middle], *lines[middle + 1 :]]),
        ("swapped", [*lines[:middle], lines[middle + 1], lines[middle], *lines[middle + 2 :]]),
        ("no JSON", [*lines[:middle], "x", *lines[middle + 1 :]]),
        ("a list", [*lines[:middle], "[]", *lines[middle + 1 :]]),
    ):
        found = first_break(trail)
        assert found is not None, name
        assert found.seq == middle + 1, name
    seqs: list[int] = []
    cursor = None
    while len(seqs) < len(lines):
        query = f"?limit=200&cursor={cursor}" if cursor else "?limit=200"
        part = admin.call("GET", f"/audit{query}").get_json()
        seqs += [line["seq"] for line in part["items"]]
        cursor = part["next_cursor"]
        if cursor is None:
            break
    assert seqs == sorted(seqs, reverse=True)
    for bad in ("YWJj", encode_cursor("9" * 30)):
        assert code(admin.call("GET", f"/audit?cursor={bad}")) == (400, "invalid_query")
    with psycopg.connect(urls.owner) as owner, pytest.raises(psycopg.errors.InsufficientPrivilege):
        owner.execute("UPDATE audit SET body = 'x' WHERE seq = 1")
    with psycopg.connect(urls.service) as own, pytest.raises(psycopg.errors.InsufficientPrivilege):
        own.execute("DELETE FROM audit")
    assert len(list(audit.whole_trail(services.database))) >= len(lines)


SCOPE_OF = {
    "/disputes": ADMIN_READ,
    "/games/{game}/timeline": ADMIN_READ,
    "/games/{game}/hidden-reads": ADMIN_HIDDEN,
    "/games/{game}/hold": ADMIN_RULE,
    "/audit": ADMIN_AUDIT,
}


@pytest.mark.parametrize("scope", ADMIN_SCOPES)
def test_a_key_does_what_its_scopes_say_and_nothing_else(
    scope: str, people: list[Person], engine: Engine, client: FlaskClient
) -> None:
    game = table(people)
    one = referee(engine, client, scopes=[scope])
    for path, needed in SCOPE_OF.items():
        is_post = path.endswith(("reads", "hold"))
        body = ({"reason": WHY} if path.endswith("reads") else {}) if is_post else None
        at = path.replace("{game}", game)
        answer = one.call("POST" if is_post else "GET", at, body)
        if needed == scope:
            assert answer.status_code in (200, 201), path
        else:
            assert code(answer) == (403, "insufficient_scope"), path
        assert "Access-Control-Allow-Origin" not in answer.headers
        for headers in ({}, people[0].headers, {"Authorization": "Bearer fd_ak_x"}):
            refused = client.open(f"/admin{at}", method="GET", headers=headers)
            assert refused.status_code in (401, 405)
        as_player = client.get("/players/me", headers={"Authorization": f"Bearer {one.token}"})
        assert as_player.status_code == 401
    unused = started(people[:3])
    assert unused


def test_the_odds_of_a_dealt_hand_are_told_once_the_game_has_ended(
    people: list[Person], admin: Referee, services: Services
) -> None:
    game = table(people, options={"rounds": 2})
    path = f"/games/{game}/hand-odds"
    asked = {"at": 8, "seat": 2}
    assert code(admin.call("POST", path, asked)) == (409, "game_not_over")
    play_on(services, people, game, random.Random(4))
    version = people[0].view(game)["version"]
    first, last = (
        admin.call("POST", path, {"at": at, "seat": 2}).get_json() for at in (8, version)
    )
    assert first["dealt_at"] == 7 < last["dealt_at"]
    for told in (first, last):
        shown = people[0].get(f"/games/{game}?at={told['dealt_at']}&seat=2").get_json()
        assert told["hand"] == shown["seats"][1]["hand"]
        for odds in told["odds"]:
            numerator, denominator = map(int, odds["exact"].split("/"))
            assert odds["one_in"] == round(denominator / numerator, 2)
    for at, seat, refused in ((3, 2, 404), (10**6, 2, 404), (8, 9, 422)):
        assert admin.call("POST", path, {"at": at, "seat": seat}).status_code == refused


def test_finished_games_add_up_to_statistics(
    people: list[Person], services: Services, tmp_path: Path
) -> None:
    game = table(people, options={"rounds": 2})
    play_on(services, people, game, random.Random(5))
    found: Any = analysing.statistics(services)
    row = next(
        one for one in found["tables"] if (one["ruleset"], one["seats"]) == ("jokers-go-boom", 4)
    )
    assert row["games"] >= 1
    assert row["rounds"] >= sum(row["went_out"]["counts"].values()) > 0
    assert sum(shuffle["decks"] for shuffle in row["shuffles"]) >= row["rounds"]
    for fit in (row["went_out"], *row["shuffles"]):
        assert 0 <= fit["p"] <= 1
    text = "\n".join(analysing.statistics_text(found))
    assert f"{found['games']} finished games" in text
    assert "jokers-go-boom 1, 4 seats" in text
    drawing = tmp_path / "out.svg"
    drawing.write_text(drawn(found))
    assert ET.parse(drawing).getroot().tag.endswith("svg")  # noqa: S314  our own


def test_of_two_rulings_at_once_one_is_made(people: list[Person], admin: Referee) -> None:
    game = table(people)
    moved(people, game, 4)
    dispute = filed(people[0], game)["id"]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: admin.rule(dispute, {"kind": "redeal"}), range(4)))
    codes = sorted(answer.status_code for answer in answers)
    assert codes == [201, 409, 409, 409]
    log = people[0].get(f"/games/{game}/events?limit=200").get_json()["items"]
    assert [event["type"] for event in log].count("ruling") == 1


def test_a_key_rules_on_one_dispute(people: list[Person], admin: Referee) -> None:
    game, key = table(people), fresh_key()
    disputes = [filed(person, game)["id"] for person in people[:2]]
    body = {"outcome": "rejected", "public_reason": "No."}
    made = [
        admin.call("POST", f"/disputes/{dispute}/rulings", body, **key).get_json()
        for dispute in disputes
    ]
    assert [one["dispute"]["id"] for one in made] == disputes
    assert made[0]["version"] != made[1]["version"]


def test_a_late_retry_of_a_ruling_leaves_its_appeal_open(
    people: list[Person], admin: Referee
) -> None:
    game, key = table(people), fresh_key()
    dispute = filed(people[0], game)["id"]
    body = {"outcome": "rejected", "public_reason": "No."}
    path = f"/disputes/{dispute}/rulings"
    admin.call("POST", path, body, **key)
    people[0].post(f"/disputes/{dispute}/appeal", {"body": "Look again."})
    assert admin.call("POST", path, body, **key).status_code == 201
    assert people[0].get(f"/disputes/{dispute}").get_json()["status"] == "open"
    assert admin.rule(dispute).status_code == 201


def test_a_dispute_whose_row_was_lost_is_found_again(
    people: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = table(people, hold_on_dispute=True)

    def lost(*_: Any) -> Any:
        raise StoreUnavailable

    asked = {"reason": "rules", "statement": "x"}
    with monkeypatch.context() as patched:
        patched.setattr("service.store.disputes.add_dispute", lost)
        assert people[0].post(f"/games/{game}/disputes", asked).status_code == 503
    assert people[0].view(game)["status"] == "held"
    again = people[0].post(f"/games/{game}/disputes", asked)
    assert code(again) == (409, "dispute_stands")
    (found,) = people[0].get("/disputes?status=open").get_json()["items"]
    assert people[0].post(f"/disputes/{found['id']}/withdrawal").status_code == 200
    assert people[0].view(game)["status"] == "active"


def test_a_hold_stands_until_what_it_is_for_is_settled(
    people: list[Person], admin: Referee
) -> None:
    game = table(people, hold_on_dispute=True)
    first, second = (filed(person, game)["id"] for person in people[:2])
    people[0].post(f"/disputes/{first}/withdrawal")
    assert people[0].view(game)["status"] == "held"
    admin.rule(second, outcome="rejected")
    assert people[0].view(game)["status"] == "active"
    people[1].post(f"/disputes/{second}/appeal", {"body": "Look again."})
    assert people[0].view(game)["status"] == "held"
    admin.call("POST", f"/games/{game}/hold", {})
    people[1].post(f"/disputes/{second}/withdrawal")
    assert people[0].view(game)["status"] == "held"
    assert admin.call("POST", f"/games/{game}/resume", {}).get_json()["status"] == "active"
    moved(people, game)


def test_who_gave_up_a_seat_is_no_referee_of_its_game_either(
    people: list[Person], engine: Engine, client: FlaskClient
) -> None:
    game = table(people)
    dispute = filed(people[0], game)["id"]
    people[2].post(f"/games/{game}/resignation")
    own = referee(engine, client, players=[people[2].id])
    for path, body in (("hold", {}), ("resume", {}), ("hidden-reads", {"reason": WHY})):
        refused = own.call("POST", f"/games/{game}/{path}", body)
        assert code(refused) == (403, "conflict_of_interest"), path
    for method, path, body in (
        ("GET", "", None),
        ("PATCH", "", {"assignee": "me"}),
        ("POST", "/messages", {"body": "x"}),
    ):
        refused = own.call(method, f"/disputes/{dispute}{path}", body)
        assert code(refused) == (403, "conflict_of_interest"), path


def test_fairness_shows_every_deck_that_was_dealt(
    people: list[Person], admin: Referee, services: Services, client: FlaskClient
) -> None:
    game = table(people, options={"rounds": 1}, spectators="none")
    admin.rule(filed(people[0], game)["id"], {"kind": "redeal"})
    report = admin.call("POST", f"/games/{game}/verify", {}).get_json()
    assert "failed" not in [check["status"] for check in report["checks"]]
    play_on(services, people, game, random.Random(2))
    decks = client.get(f"/games/{game}/fairness").get_json()["decks"]
    assert [(deck["round"], deck["deal"]) for deck in decks] == [(1, 0), (1, 1)]
    late = filed(people[1], game)["id"]
    admin.rule(late, {"kind": "void"})
    after = filed(people[2], game)["id"]
    scores = {str(seat): 1 for seat in range(1, 5)}
    refused = admin.rule(after, {"kind": "adjust_scores", "scores": scores})
    assert code(refused) == (422, "remedy_not_possible")


def test_a_player_is_forgotten_and_every_game_still_verifies(
    people: list[Person],
    admin: Referee,
    services: Services,
    client: FlaskClient,
    tmp_path: Path,
) -> None:
    gone = people[1]
    ended = table(people, options={"rounds": 1})
    play_on(services, people, ended, random.Random(3))
    running, waiting, held = table(people), opened(gone)["game"], table(people)
    admin.call("POST", f"/games/{held}/hold", {})
    dispute = filed(gone, running, statement="They cheat.")["id"]
    gone.post(f"/disputes/{dispute}/messages", {"body": "All of them."})
    gone.post("/webhooks", {"url": "https://cards.example/hook"})
    path, why = f"/players/{gone.id}/erasure", {"reason": "The player asked for it by letter."}
    for _ in range(2):
        assert admin.call("POST", path, why).status_code == 204
    assert gone.get("/players/me").status_code == 401
    case = people[0].get(f"/disputes/{dispute}").get_json()
    assert (case["statement"], case["messages"][0]["body"]) == ("", "")
    for game in (ended, running):
        names = [seat["player"].get("name") for seat in people[0].view(game)["seats"]]
        assert "Jānis" not in names
    for game in (running, held):
        assert people[0].view(game)["seats"][1]["player"]["kind"] == "bot"
    assert people[0].view(held)["status"] == "held"
    assert people[0].view(waiting)["status"] == "voided"
    check_both(client, ended, tmp_path)
    unknown = admin.call("POST", f"/players/{'0' * 26}/erasure", why)
    assert code(unknown) == (404, "player_not_found")
    said = admin.call("GET", "/audit?limit=200").get_json()["items"]
    assert [line["action"] for line in said].count("erasure") >= 2
    assert "Jānis" not in json.dumps(said, ensure_ascii=False)
