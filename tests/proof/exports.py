"""Exports for the tests, whole and tampered with, each with what must be found and where."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from signing import KEYRING, FixedKeyring

from service.canonical import canonical_text
from service.cards import Card, Seat
from service.fairness import Dealer, SealedDealer
from service.log import steps
from service.log.events import GENESIS, Actor, Draft, chained
from service.log.game import Occupant, Rematch, Secret
from service.log.steps import Frame, Opening
from service.proof import merkle
from service.proof.checkpoints import Checkpoint, Inclusion, Leaf, read_note, signed
from service.proof.export import footer_line, header_line
from service.proof.outside import Evidence
from service.proof.receipts import Receipt, sign_head
from service.proof.verdicts import Check
from service.rules.registry import find

AT = "2026-12-01T10:15:30.123Z"
GAME = "01j00000000000000000000000"
CREATOR = Actor(kind="player", id="01j00000000000000000000001")
ORIGIN = "cards.example/log"
NEIGHBOURS = 6
"""Leaves of other games in the tests' tree."""

FOLLOWING = {"jokers-go-boom": Check.MOVES, "crazy-rummy": Check.CONSEQUENCES}
"""What the next move fails if the third one is left out: it is illegal, or has another outcome."""

REMATCH = Rematch(of=GAME[:-1] + "7", dealer=Seat(2), players=("player1", "player2", None))
REMATCHED: Mapping[str, Any] = MappingProxyType(
    {"turn_seconds": 60, "spectators": "delayed", "spectator_delay": 10, "rematch": REMATCH}
    | {"hold_on_dispute": True}
)
"""What a rematch is opened with: all that may stand in `game_created`."""

Lines = list[dict[str, Any]]


def play(
    ruleset: str,
    seed: int,
    dealer: Callable[..., Dealer] = SealedDealer.of,
    seats: int = 3,
    also: Mapping[str, Any] = MappingProxyType({}),
    **options: Any,
) -> Sequence[Frame]:
    """Every frame of a game of random legal moves; a bot sits in the last seat.

    `also` is what it is opened with beside the rules.
    """
    chance = random.Random(seed)
    rules = find(ruleset)
    chosen = rules.read_options(
        rules.write_options(rules.complete(rules.options(rounds=2), seats)) | options  # type: ignore[operator]
    )
    opening = Opening(
        ruleset=rules,
        options=chosen,
        seats=seats,
        visibility="public",
        **also,
    )
    secret = Secret(bytes(range(32)), dealer)
    frames = [steps.write(steps.create(GAME, opening, secret, CREATOR, AT), None, AT)]

    def add(step: steps.Step) -> None:
        frames.append(steps.write(step, frames[-1].after, AT))

    for number in range(1, seats):
        occupant = Occupant(kind="human", player=f"player{number}", contribution=f"give {number}")
        add(steps.take_seat(frames[-1].after, Seat(number), occupant, _player(number)))
    bot = Occupant(kind="bot", level="random")
    add(steps.take_seat(frames[-1].after, Seat(seats), bot, CREATOR))
    add(steps.start(frames[-1].after))
    frames += steps.consequences(frames[-1].after, AT)
    while (game := frames[-1].after).to_act is not None:
        assert game.round is not None
        move = chance.choice(game.ruleset.legal_moves(game.round.state))
        is_bot = game.to_act == seats
        actor = Actor(kind="bot", id="random") if is_bot else _player(game.to_act)
        add(steps.play(game, move, actor))
        frames += steps.consequences(frames[-1].after, AT)
    return frames


def _player(seat: int) -> Actor:
    return Actor(kind="player", id=f"player{seat}")


def export_of(frames: Sequence[Frame], keyring: FixedKeyring = KEYRING) -> str:
    """The export of a whole game, in a checkpoint."""
    game = frames[-1].after
    events = [json.loads(frame.event.line) for frame in frames]
    return written(header_of(game.ruleset.name, game.ruleset.version), events, keyring)


def header_of(ruleset: str, version: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(header_line(GAME, ruleset, version))
    return value


def written(header: dict[str, Any], events: Lines, keyring: FixedKeyring = KEYRING) -> str:
    """The events as they are, signed and checkpointed: what a service that lies would send."""
    last = events[-1]
    receipt = sign_head(keyring.signer(), GAME, last["seq"], last["hash"])
    inclusion = include(events, keyring)
    lines = [canonical_text(value) + "\n" for value in (header, *events)]
    return "".join(lines) + footer_line(last["seq"], receipt, inclusion)


def include(events: Lines, keyring: FixedKeyring = KEYRING) -> Inclusion:
    """Why the last event is in a checkpoint over it and some neighbours."""
    final = any(event["type"] == "game_ended" for event in events)
    last = events[-1]
    leaves = _among_neighbours(Leaf(game=GAME, seq=last["seq"], head=last["hash"], final=final))
    size = len(leaves)
    nodes = {(node.level, node.index): node.hash for node in merkle.grow(0, leaves, no_node)}
    look_up = lambda level, index: nodes[level, index]  # noqa: E731  as the tree takes it
    note = signed(Checkpoint(ORIGIN, size, merkle.root(size, look_up)), keyring.signer())
    return Inclusion(index=4, path=merkle.inclusion_path(4, size, look_up), checkpoint=note)


def tree_leaves(frames: Sequence[Frame]) -> list[bytes]:
    """The leaves of that tree for a whole game, and two that came later."""
    last = frames[-1].event
    leaf = Leaf(game=GAME, seq=last.seq, head=last.hash, final=True)
    return [*_among_neighbours(leaf), *(merkle.leaf_hash(bytes([n])) for n in (100, 101))]


def _among_neighbours(leaf: Leaf) -> list[bytes]:
    leaves = [merkle.leaf_hash(bytes([number])) for number in range(NEIGHBOURS)]
    return [*leaves[:4], leaf.hash, *leaves[4:]]


def no_node(level: int, index: int) -> bytes:
    raise LookupError(level, index)


def parts(text: str) -> tuple[dict[str, Any], Lines, dict[str, Any]]:
    header, *events, footer = [json.loads(line) for line in text.splitlines()]
    return header, events, footer


def rechained(events: Lines) -> Lines:
    """The events in this order, numbered and chained anew."""
    prev, chain = GENESIS, []
    for seq, event in enumerate(events, 1):
        draft = Draft(event["type"], Actor(**event["actor"]), event["data"])
        made = chained(draft, game=event["game"], seq=seq, at=event["at"], prev=prev)
        chain.append(json.loads(made.line))
        prev = made.hash
    return chain


def edited(text: str, seq: int, **changes: Any) -> str:
    """One event's data changed, the rest chained, signed and checkpointed anew."""
    header, events, _ = parts(text)
    events[seq - 1]["data"] |= changes
    return written(header, rechained(events))


def seq_of(text: str, kind: str, number: int = 0) -> int:
    """The seq of the first event of that type, or of a later one."""
    found = [event["seq"] for event in parts(text)[1] if event["type"] == kind]
    return int(found[number])


@dataclass(frozen=True)
class ReversedDealer:
    """A dealer whose decks, or whose cut, are not those of the seed; it seals as it should."""

    honest: Dealer
    rigs_cut: bool

    def cut(self, pack: Sequence[Card]) -> tuple[Card, ...]:
        cards = self.honest.cut(pack)
        return cards[::-1] if self.rigs_cut else cards

    def deck(self, pack: Sequence[Card], round_number: int, deal: int) -> tuple[Card, ...]:
        cards = self.honest.deck(pack, round_number, deal)
        return cards if self.rigs_cut else cards[::-1]

    def seal(self, state: Any) -> str:
        return self.honest.seal(state)


def rigged(*, rigs_cut: bool) -> Callable[..., Dealer]:
    return lambda *of: ReversedDealer(SealedDealer.of(*of), rigs_cut)


@dataclass(frozen=True)
class Tampered:
    """A tampered export, what its reader kept, and the one check that must fail, and where."""

    name: str
    text: str
    check: Check
    seq: int | None
    evidence: Evidence


def kept_receipt(text: str, seq: int) -> Receipt:
    event = parts(text)[1][seq - 1]
    return sign_head(KEYRING.signer(), GAME, seq, event["hash"])


def tampered_with(ruleset: str) -> list[Tampered]:  # noqa: PLR0915  a catalogue
    """Each kind of tampering with a game of the ruleset."""
    text = export_of(play(ruleset, 1))
    header, events, footer = parts(text)
    last = len(events)
    lines = text.splitlines(keepends=True)
    move = seq_of(text, "move", 2)
    made: list[Tampered] = []

    def case(name: str, changed: str, check: Check, seq: int | None, **kept: Any) -> None:
        evidence = Evidence(**{"keys": KEYRING.public_keys(), **kept})
        made.append(Tampered(f"{ruleset}: {name}", changed, check, seq, evidence))

    def line_changed(seq: int, old: str, new: str) -> str:
        assert old in lines[seq], lines[seq]
        return "".join([*lines[:seq], lines[seq].replace(old, new, 1), *lines[seq + 1 :]])

    case("a flipped byte", line_changed(move, "30.123Z", "30.124Z"), Check.CHAIN, move)
    case("a space", line_changed(move, '"seq":', '"seq": '), Check.CANONICAL, move)
    case(
        "a fraction", line_changed(move, f'"seq":{move}', f'"seq":{move}.0'), Check.CANONICAL, move
    )
    case("half a line", text[:-40], Check.CANONICAL, None)
    case("no JSON", line_changed(move, "{", "["), Check.CANONICAL, move)
    case(
        "a member more",
        line_changed(move, f'"seq":{move}', f'"rest":1,"seq":{move}'),
        Check.CANONICAL,
        move,
    )
    case(
        "another kind",
        line_changed(move, f'"seq":{move}', f'"seq":"{move}"'),
        Check.CANONICAL,
        move,
    )
    case("after the end", text + lines[1], Check.CANONICAL, last + 1)
    case("nothing", lines[0] + lines[-1], Check.CANONICAL, None)
    case("a dropped event", "".join(lines[:move] + lines[move + 1 :]), Check.CHAIN, move)
    case("a doubled event", "".join(lines[: move + 1] + lines[move:]), Check.CHAIN, move + 1)
    swapped = [*lines[:move], lines[move + 1], lines[move], *lines[move + 2 :]]
    case("two events swapped", "".join(swapped), Check.CHAIN, move)
    forged = canonical_text(rechained([*events[:move], events[move - 1]])[-1]) + "\n"
    inserted = "".join([*lines[: move + 1], forged, *lines[move + 1 :]])
    case("an inserted event", inserted, Check.CHAIN, move + 2)
    other = line_changed(move, GAME, GAME[:-1] + "9")
    case("an event of another game", other, Check.CHAIN, move)
    prev = events[move - 1]["prev"]
    case("another prev", line_changed(move, prev, "1" * 64), Check.CHAIN, move)

    case("another header", text.replace(ruleset, "old-maid", 1), Check.COMPLETENESS, 1)
    case("no header", "".join(lines[1:]), Check.COMPLETENESS, 1)
    case("no footer", "".join(lines[:-1]), Check.COMPLETENESS, last + 1)
    case("the end cut off", "".join([*lines[: last - 2], lines[-1]]), Check.COMPLETENESS, last - 2)
    less = text.replace('"kind":"footer"', '"kind":"footer","more":1')
    case("a footer with more", less, Check.COMPLETENESS, last + 1)
    unrevealed = written(header, [e for e in events if e["type"] != "secret_revealed"])
    case("the reveal left out", unrevealed, Check.COMPLETENESS, last)

    revealed = seq_of(text, "secret_revealed")
    for name, secret in (("another secret", "0" * 64), ("no secret", "00")):
        changed = edited(text, revealed, server_secret=secret)
        case(name, changed, Check.COMMITMENT, revealed)
    started, dealt = seq_of(text, "game_started"), seq_of(text, "round_started")
    for name, rigs_cut, seq in (("a rigged deck", False, dealt), ("a rigged cut", True, started)):
        case(name, export_of(play(ruleset, 1, rigged(rigs_cut=rigs_cut))), Check.DEALS, seq)
    case("another contribution", edited(text, 3, contribution="x"), Check.DEALS, started)
    case("another first player", edited(text, dealt, first=9), Check.DEALS, dealt)
    case("too many seats", edited(text, 1, seats=10**9), Check.DEALS, 1)

    illegal = {"type": "pass"} if ruleset == "jokers-go-boom" else {"type": "draw", "from": "stock"}
    first_move = seq_of(text, "move")
    case("an illegal move", edited(text, first_move, move=illegal), Check.MOVES, first_move)
    case("another seat", edited(text, move, seat=9), Check.MOVES, move)
    stolen = [*events]
    stolen[move - 1] = {**events[move - 1], "actor": {"kind": "player", "id": "stranger"}}
    case("a stranger's move", written(header, rechained(stolen)), Check.MOVES, move)
    case("another outcome", edited(text, move, outcome={"x": 1}), Check.CONSEQUENCES, move)
    case("another seal", edited(text, move, state_mac="0" * 64), Check.CONSEQUENCES, move)
    gone = rechained(events[: move - 1] + events[move:])
    counted, ended = seq_of(text, "round_ended"), seq_of(text, "game_ended")
    points = events[counted - 1]["data"]["points"]
    scored = {**points, "1": points["1"] + 1}
    case("changed points", edited(text, counted, points=scored), Check.SCORES, counted)
    case("changed scores", edited(text, counted, scores=scored), Check.SCORES, counted)
    case("other winners", edited(text, ended, winners=[9]), Check.SCORES, ended)
    case("a move left out", written(header, gone), FOLLOWING[ruleset], move)

    liar = FixedKeyring(b"l" * 32)
    by_liar = sign_head(liar.signer(), GAME, last, events[-1]["hash"]).to_json()
    case("a wrong key", with_footer(text, receipt=by_liar), Check.SIGNATURE, last)
    signature = footer["receipt"]["signature"]
    bad = text.replace(signature, "A" * 86)
    case("a forged signature", bad, Check.SIGNATURE, last)
    case("a receipt for another event", _with_receipt(text, last - 1), Check.SIGNATURE, last)
    case("no receipt", with_footer(text, receipt=None), Check.SIGNATURE, last)
    rewritten = export_of(play(ruleset, 2))
    again = parts(rewritten)[1]
    differs = next(a["seq"] for a, b in zip(events, again, strict=False) if a["hash"] != b["hash"])
    receipt = kept_receipt(text, differs)
    case("a rewritten game", rewritten, Check.SIGNATURE, differs, receipts=[receipt])
    note = read_note(include(events).checkpoint)
    case("a rewritten tree", rewritten, Check.INCLUSION, len(again), checkpoints=[note])
    path = footer["inclusion"]["path"]
    wrong = [path[0][::-1], *path[1:]]
    moved = with_footer(text, inclusion={**footer["inclusion"], "path": wrong})
    case("a wrong path", moved, Check.INCLUSION, last)
    elsewhere = with_footer(text, inclusion={**footer["inclusion"], "index": 3})
    case("another leaf", elsewhere, Check.INCLUSION, last)
    for name, note_text in (
        ("no note", "x"),
        ("a liar's checkpoint", include(events, liar).checkpoint),
    ):
        changed = with_footer(text, inclusion={**footer["inclusion"], "checkpoint": note_text})
        case(name, changed, Check.INCLUSION, last)
    case("no inclusion", with_footer(text, inclusion={}), Check.INCLUSION, last)
    return made


def with_footer(text: str, **changes: Any) -> str:
    *lines, footer = text.splitlines(keepends=True)
    return "".join(lines) + canonical_text({**json.loads(footer), **changes}) + "\n"


def _with_receipt(text: str, seq: int) -> str:
    return with_footer(text, receipt=kept_receipt(text, seq).to_json())
