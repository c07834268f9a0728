"""The second verifier, in JavaScript under Node, agrees with the first one on everything."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from log.test_rulings import REFEREE, table
from proof.exports import (
    KEYRING,
    REMATCHED,
    Tampered,
    export_of,
    parts,
    play,
    rechained,
    tampered_with,
    with_footer,
    written,
)
from proof.golden import golden_games, golden_keys

from service.canonical import Json
from service.log import steps
from service.proof.keys import PublicKey
from service.proof.outside import Evidence
from service.proof.verdicts import Outcome, Report
from service.proof.verify import verify

HERE = Path(__file__).parent
VECTORS = json.loads((HERE.parent / "vectors" / "fairness.json").read_text())
NEEDS_RULES = {"moves", "consequences", "scores"}
WITHOUT_KEPT = [
    case
    for ruleset in ("jokers-go-boom", "crazy-rummy")
    for case in tampered_with(ruleset)
    if not (case.evidence.receipts or case.evidence.checkpoints)
]


def run(cases: list[dict[str, Json]], folder: Path) -> Any:
    """What the verifier in JavaScript says of each case, and of the vectors."""
    given = folder / "cases.json"
    given.write_text(json.dumps({"vectors": VECTORS, "cases": cases}))
    ran = subprocess.run(
        ["node", HERE / "verify.mjs", given], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("javascript")


def given(text: str, keys: list[PublicKey] | None) -> dict[str, Json]:
    return {"text": text, "keys": None if keys is None else [key.to_json() for key in keys]}


def compared(report: Report) -> list[tuple[str, str, int | None]]:
    """The verdicts of the checks that both verifiers make."""
    return [
        (v.check.value, v.status.value, v.seq)
        for v in report.verdicts
        if v.check.value not in NEEDS_RULES
    ]


def compared_js(report: Any) -> list[tuple[str, str, int | None]]:
    return [
        (v["check"], v["status"], v["seq"])
        for v in report["checks"]
        if v["check"] not in NEEDS_RULES
    ]


def test_the_vectors_come_out_alike(folder: Path) -> None:
    worked = run([], folder)["vectors"]
    hashes = worked.pop("hashes")
    assert hashes == [event["hash"] for event in VECTORS["chain"]]
    assert worked == {name: VECTORS[name] for name in worked}
    assert len(worked) == 5


def test_both_agree_on_every_tampered_file(folder: Path) -> None:
    keys = list(KEYRING.public_keys())
    found = run([given(case.text, keys) for case in WITHOUT_KEPT], folder)["reports"]
    for case, report in zip(WITHOUT_KEPT, found, strict=True):
        assert compared_js(report) == compared(verify(case.text, case.evidence)), case.name
        assert is_told(case, report), case.name


def is_told(case: Tampered, report: Any) -> bool:
    """Whether the report names the failure, where it is one that needs no rules."""
    failed = [(v["check"], v["seq"]) for v in report["checks"] if v["status"] == "failed"]
    needs_rules = case.check.value in NEEDS_RULES
    return failed == ([] if needs_rules else [(case.check.value, case.seq)])


def test_both_agree_on_whole_and_on_running_games(folder: Path) -> None:
    texts = []
    for ruleset in ("jokers-go-boom", "crazy-rummy"):
        frames = play(ruleset, 3)
        texts += [export_of(frames[:length]) for length in (1, 5, 9, 20, len(frames))]
    for keys in (None, list(KEYRING.public_keys())):
        found = run([given(text, keys) for text in texts], folder)["reports"]
        for text, report in zip(texts, found, strict=True):
            assert compared_js(report) == compared(verify(text, Evidence(keys=keys)))


def test_both_agree_on_every_golden_game(folder: Path) -> None:
    games, keys = golden_games(), list(golden_keys())
    found = run([given(path.read_text(), keys) for path in games], folder)["reports"]
    for path, report in zip(games, found, strict=True):
        assert compared_js(report) == compared(verify(path.read_text(), Evidence(keys=keys)))
        assert {status for _, status, _ in compared_js(report)} == {"passed"}


ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 2**31, "", "1", "Ņ", [], [1], ["1"], {}, {"1": 1}, {"toString": 1}),
)


def rewritten_games() -> list[str]:
    """A game with each member of each kind of event in turn being odd, or gone, chained anew."""
    texts: list[str] = []
    for ruleset, rounds in (("jokers-go-boom", 2), ("crazy-rummy", 1)):
        header, events, _ = parts(export_of(play(ruleset, 5, rounds=rounds)))
        first = {event["type"]: event["seq"] for event in reversed(events)}
        last_deal = max(e["seq"] for e in events if e["type"] == "round_started")
        texts += [
            written(header, rechained(changed(events, seq, name, value)))
            for seq in {*first.values(), last_deal}
            for name in events[seq - 1]["data"]
            for value in (*ODD[::4], "gone")
        ]
    return texts


def changed(events: Any, seq: int, name: str, value: Any) -> Any:
    data = {**events[seq - 1]["data"], name: value}
    if value == "gone":
        del data[name]
    return [{**event, "data": data} if event["seq"] == seq else event for event in events]


def test_both_agree_whatever_stands_in_an_event(folder: Path) -> None:
    texts, keys = rewritten_games(), list(KEYRING.public_keys())
    found = run([given(text, keys) for text in texts], folder)["reports"]
    for text, report in zip(texts, found, strict=True):
        assert compared_js(report) == compared(verify(text, Evidence(keys=keys)))
    assert len(texts) > 250


def test_both_agree_on_what_a_rematch_is_opened_with(folder: Path) -> None:
    text = export_of(play("jokers-go-boom", 5, also=REMATCHED))
    header, events, _ = parts(text)
    created, rematch = events[0]["data"], events[0]["data"]["rematch"]
    odd = [
        created | {name: value}
        for name in ("spectators", "spectator_delay", "rematch", "hold_on_dispute")
        for value in (*ODD, "public", "none", "delayed", 201)
    ]
    odd += [created | {"rematch": rematch | {name: v}} for name in rematch for v in ODD]
    kept = rematch["players"]
    odd += [created | {"rematch": rematch | {"players": kept | {"2": v}}} for v in ODD]
    odd += [created | {"rematch": rematch | {"players": kept | {s: "x"}}} for s in ("0", "01", "4")]
    odd += [created | {"rematch": rematch | {"more": 1}}]
    for members in (("spectators",), ("spectator_delay",), ("spectators", "spectator_delay")):
        odd.append({name: value for name, value in created.items() if name not in members})
    texts = [text]
    for data in odd:
        changed_events = [{**events[0], "data": data}, *events[1:]]
        texts.append(written(header, rechained(changed_events)))
    keys = list(KEYRING.public_keys())
    found = run([given(one, keys) for one in texts], folder)["reports"]
    passed = 0
    for one, report in zip(texts, found, strict=True):
        assert compared_js(report) == compared(verify(one, Evidence(keys=keys))), one[:900]
        passed += {status for _, status, _ in compared_js(report)} == {"passed"}
    assert 1 < passed < len(texts) / 4


def refereed(ruleset: str) -> str:
    """A game with every remedy in it."""
    one = table(ruleset, 3)
    one.add(steps.rewind(one.game, one.game.starts[-1].seq + 2, REFEREE))
    one.move()
    one.rule("adjust_scores", scores=[score + 7 for score in one.game.scores])
    one.add(steps.redeal(one.game, 2, REFEREE))
    one.move()
    one.add(steps.rewind(one.game, one.game.version - 1, REFEREE))
    one.add(steps.redeal(one.game, 1, REFEREE))
    while one.move():
        pass
    one.rule("adjust_scores", scores=[1, 2, 3])
    return export_of(one.frames)


@pytest.mark.parametrize("ruleset", ["jokers-go-boom", "crazy-rummy"])
def test_both_agree_on_what_a_referee_did(ruleset: str, folder: Path) -> None:
    text = refereed(ruleset)
    keys = list(KEYRING.public_keys())
    assert verify(text, Evidence(keys=keys)).outcome is Outcome.VERIFIED
    header, events, _ = parts(text)
    texts = [text]
    admins = [e for e in events if e["actor"]["kind"] == "admin"]
    for event in admins:
        for name, value in event["data"].items():
            odd: list[Any] = [*ODD[:: 6 if ruleset == "crazy-rummy" else 3], "gone"]
            odd += [value + 1, value - 1] if isinstance(value, int) else []
            texts += [
                written(header, rechained(changed(events, event["seq"], name, one))) for one in odd
            ]
        by_player = [
            {**e, "actor": {"kind": "player", "id": "player1"}} if e is event else e for e in events
        ]
        texts.append(written(header, rechained(by_player)))
        left_out = [e for e in events if e is not event]
        texts.append(written(header, rechained(left_out)))
    found = run([given(one, keys) for one in texts], folder)["reports"]
    failed = 0
    for one, report in zip(texts, found, strict=True):
        ours = verify(one, Evidence(keys=keys))
        assert compared_js(report) == compared(ours)
        failed += ours.outcome is Outcome.FAILED
    assert failed > len(texts) / 2


def test_both_agree_on_what_stands_in_a_footer(folder: Path) -> None:
    text = export_of(play("jokers-go-boom", 5))
    footer = parts(text)[2]
    texts = [with_footer(text, **{name: value}) for name in footer for value in ODD]
    for member in ("receipt", "inclusion"):
        for name in footer[member]:
            texts += [with_footer(text, **{member: footer[member] | {name: v}}) for v in ODD]
        texts.append(with_footer(text, **{member: footer[member] | {"more": 1}}))
    signature, note = footer["receipt"]["signature"], footer["inclusion"]["checkpoint"]
    for odd in (signature + "==", signature[:-1] + "B", " " + signature, signature + "+/"):
        texts.append(with_footer(text, receipt=footer["receipt"] | {"signature": odd}))
    for odd in (note + "\n", note[:-2] + "\n", note.replace("\n7\n", "\n07\n"), note.upper()):
        texts.append(with_footer(text, inclusion=footer["inclusion"] | {"checkpoint": odd}))
    keys = list(KEYRING.public_keys())
    found = run([given(changed_text, keys) for changed_text in texts], folder)["reports"]
    for changed_text, report in zip(texts, found, strict=True):
        assert compared_js(report) == compared(verify(changed_text, Evidence(keys=keys)))
