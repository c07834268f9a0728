"""What can happen at a table: each function is one event, and the game after it.

The same functions write the log and read it. A live move goes through `play`,
and a replay goes through `play` again with what the log says was asked, and
compares what follows with what the log says followed.

No step checks who may ask for it: the use cases do.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from service.canonical import JsonMap
from service.cards import Seat, card_text, cards_text, next_seat, pack
from service.fairness import ALGORITHM, SECRET_BYTES, Dealer, commitment
from service.log.events import GENESIS, SYSTEM, Actor, Draft, Event, by_seat, chained
from service.log.game import (
    Game,
    Occupant,
    Past,
    Rematch,
    Result,
    RoundInPlay,
    RoundStart,
    Secret,
    Setup,
    Status,
)
from service.rules.ruleset import AnyRuleset, Round, Scores

Step: TypeAlias = tuple[Draft, Game]
"""What is to be written, and the game after it but for its new version and head."""

CLOCK = Actor(kind="clock")
SUBSTITUTE = Occupant(kind="bot", level="steady")
"""Who plays on for a player who is away or gave up."""

LEAST_TURN_SECONDS = 5
MOST_TURN_SECONDS = 7 * 24 * 3600
ABSENCES_AT_MOST = 3
SPECTATORS = ("public", "none", "delayed")
MOST_DELAY = 200
RESIGNED = "resigned"
ABSENT = "absent"
RETURNED = "returned"
OUTAGE = "outage"
RULED = "ruled"
FINISHED = "finished"
AWARDED = "awarded"
VOIDED = "voided"

NEW_TURNS = ("round_started", "rewound", "game_resumed")
"""What begins a turn anew, even if it is the same seat's."""

NEW_STATES = ("round_started", "move", "rewound")
"""What changes the state of a round."""

REMEDIES = (
    *("none", "rewind", "redeal", "adjust_scores", "replace_seat", "extend_clock", "void"),
    "award",
)
REASONS = ("rules", "deal", "conduct", "clock", "other")
"""What a dispute may be about."""

OUTCOMES = ("upheld", "rejected")


@dataclass(frozen=True, slots=True)
class Frame:
    """An event between the game before it and the game after it; `before` is None for the first."""

    before: Game | None
    event: Event
    after: Game


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a game is opened with.

    `sandbox` is the secret of a sandbox game, in hex; `turn_seconds` how long
    a turn may take, None for as long as it does. `spectators` is `public`,
    `none`, or `delayed` by `spectator_delay` events.
    """

    ruleset: AnyRuleset
    options: Any
    seats: int
    visibility: str
    sandbox: str | None = None
    turn_seconds: int | None = None
    spectators: str = "public"
    spectator_delay: int = 0
    rematch: Rematch | None = None
    hold_on_dispute: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """What a player of a seat complains of: a reason, and the events that it is about."""

    id: str
    seat: Seat
    reason: str
    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a referee decided; `scores` by seat where they are adjusted."""

    id: str
    outcome: str
    remedies: tuple[str, ...]
    dispute: str | None = None
    scores: Scores | None = None


def write(step: Step, before: Game | None, at: str) -> Frame:
    """Give the step its place after the game's last event."""
    draft, after = step
    version, head = (before.version, before.head) if before else (0, GENESIS)
    event = chained(draft, game=after.id, seq=version + 1, at=at, prev=head)
    return Frame(before, event, moved_on(before, after, event))


def moved_on(before: Game | None, after: Game, event: Event) -> Game:
    """The game after the step, at its event's place; the clock starts anew with each turn."""
    turn = after.to_act
    is_new_turn = turn is not None and (
        event.type in NEW_TURNS or before is None or before.to_act != turn
    )
    changes: dict[str, Any] = {"version": event.seq, "head": event.hash, "at": event.at}
    if event.type in NEW_STATES and after.round is not None:
        past = Past(event.seq, after.round.state, after.round.past)
        changes["round"] = replace(after.round, past=past)
    if event.type == "round_started":
        *earlier, present = after.starts
        changes["starts"] = (*earlier, replace(present, seq=event.seq))
    if is_new_turn:
        changes.update(turn_at=event.at, extended=0)
    return replace(after, **changes)


def create(game: str, opening: Opening, secret: Secret, creator: Actor, at: str) -> Step:
    """`game_created`: the rules, and the commitment, before any seat is taken."""
    if len(secret.value) != SECRET_BYTES:
        message = f"a secret has {SECRET_BYTES} bytes"
        raise ValueError(message)
    ruleset = opening.ruleset
    if opening.seats not in ruleset.seats:
        message = f"{ruleset.name} is not played by {opening.seats}"
        raise ValueError(message)
    options = ruleset.complete(opening.options, opening.seats)
    bound = commitment(secret.value)
    data: JsonMap = {
        "ruleset": ruleset.name,
        "ruleset_version": ruleset.version,
        "options": ruleset.write_options(options),
        "seats": opening.seats,
        "visibility": opening.visibility,
        "sandbox": opening.sandbox,
        "algorithm": ALGORITHM,
        "commitment": bound,
        **_turn_seconds(opening),
        **_spectators(opening),
        **_rematch(opening),
        **({"hold_on_dispute": True} if opening.hold_on_dispute else {}),
    }
    setup = Setup(
        id=game,
        created_at=at,
        ruleset=ruleset,
        options=options,
        creator=creator.id or "",
        visibility=opening.visibility,
        sandbox=opening.sandbox,
        commitment=bound,
        secret=secret,
        turn_seconds=opening.turn_seconds,
        spectators=opening.spectators,
        spectator_delay=opening.spectator_delay,
        rematch=opening.rematch,
        hold_on_dispute=opening.hold_on_dispute,
    )
    created = Game(
        setup=setup,
        version=0,
        head=GENESIS,
        at=at,
        status=Status.OPEN,
        occupants=(None,) * opening.seats,
        scores=(0,) * opening.seats,
        absences=(0,) * opening.seats,
        away=(None,) * opening.seats,
    )
    return Draft("game_created", creator, data), created


def _turn_seconds(opening: Opening) -> JsonMap:
    """Left out where there is no clock, as it was before there were clocks."""
    seconds = opening.turn_seconds
    if seconds is None:
        return {}
    if not LEAST_TURN_SECONDS <= seconds <= MOST_TURN_SECONDS:
        message = f"a turn has {LEAST_TURN_SECONDS} to {MOST_TURN_SECONDS} seconds"
        raise ValueError(message)
    return {"turn_seconds": seconds}


def _spectators(opening: Opening) -> JsonMap:
    """Left out where everybody may look on, as they may unless something is said."""
    policy, delay = opening.spectators, opening.spectator_delay
    most = MOST_DELAY if policy == "delayed" else 0
    if policy not in SPECTATORS or not min(most, 1) <= delay <= most:
        message = f"spectators are {', '.join(SPECTATORS)}, delayed by 1 to {MOST_DELAY} events"
        raise ValueError(message)
    if policy == "public":
        return {}
    return {"spectators": policy, **({"spectator_delay": delay} if delay else {})}


def _rematch(opening: Opening) -> JsonMap:
    """Left out where a game goes on from no other."""
    rematch = opening.rematch
    if rematch is None:
        return {}
    if len(rematch.players) != opening.seats or rematch.dealer not in range(1, opening.seats + 1):
        message = "a rematch has the seats of the game before"
        raise ValueError(message)
    return {"rematch": rematch.to_json()}


def take_seat(game: Game, seat: Seat, occupant: Occupant, actor: Actor) -> Step:
    """`seat_taken`: again by who sits there already, to give another contribution."""
    if game.kept_for(seat) not in (None, occupant.player):
        message = "the seat is kept for somebody else"
        raise ValueError(message)
    data = {"seat": seat, **occupant.to_json(), "contribution": occupant.contribution}
    return Draft("seat_taken", actor, data), _with_occupant(game, seat, occupant)


def leave_seat(game: Game, seat: Seat, actor: Actor) -> Step:
    """`seat_left`: the seat is free again."""
    occupant = game.occupant(seat)
    data = {"seat": seat, **(occupant.to_json() if occupant else {})}
    return Draft("seat_left", actor, data), _with_occupant(game, seat, None)


def start(game: Game) -> Step:
    """`game_started`: the contributions are fixed; the cut, or the game before, says who deals."""
    dealer, rematch = game.make_dealer(), game.setup.rematch
    if rematch is None:
        cut = game.ruleset.first_dealer(dealer.cut(pack()), len(game.occupants))
        shown, first = cut.shown, cut.dealer
    else:
        shown, first = (), rematch.dealer
    data: JsonMap = {
        "cut": [{"seat": seat, "card": card_text(card)} for seat, card in shown],
        "dealer": first,
    }
    started = replace(
        game,
        status=Status.ACTIVE,
        dealer=dealer,
        first_dealer=first,
        open_until=game.version,
    )
    return Draft("game_started", SYSTEM, data), started


def start_round(game: Game) -> Step:
    """`round_started`: all that the rules need to go on from here, but the hidden cards."""
    number = game.round.number + 1 if game.round else 1
    return _deal(game, number, _next_dealer(game), SYSTEM)


def redeal(game: Game, number: int, actor: Actor) -> Step:
    """`round_started` of a round that was dealt before: what was played of it, and since, is void.

    The scores are those before it, the cards are shuffled anew.
    """
    if game.is_revealed or not 1 <= number <= len(game.starts):
        message = "that round can't be dealt again"
        raise ValueError(message)
    start = game.starts[number - 1]
    back = replace(
        game,
        scores=start.scores,
        starts=game.starts[: number - 1],
        abandoned=(*game.abandoned, (start.seq, game.version)),
    )
    return _deal(back, number, start.dealer, actor)


def _deal(game: Game, number: int, seat: Seat, actor: Actor) -> Step:
    dealer, deal = _dealer_of(game), next_deal(game, number)
    deck = dealer.deck(game.ruleset.pack(game.options), number, deal)
    state = game.ruleset.deal(game.options, Round(number, seat, len(game.occupants)), deck)
    data: JsonMap = {
        "round": number,
        "deal": deal,
        "dealer": seat,
        "first": game.ruleset.first(state),
        "scores": by_seat(game.scores),
        **game.ruleset.facts(state),
        "state_mac": dealer.seal(game.ruleset.encode(state)),
    }
    in_play = RoundInPlay(number=number, deal=deal, dealer=seat, state=state)
    started = replace(
        game,
        round=in_play,
        is_counted=False,
        absences=(0,) * len(game.occupants),
        starts=(*game.starts, RoundStart(0, seat, game.scores)),
        deals=dealt(game, number, deal),
    )
    return Draft("round_started", actor, data), started


def next_deal(game: Game, number: int) -> int:
    """Which shuffle of the round's cards is next: none is ever used twice (L §2)."""
    return game.deals[number - 1] + 1 if number <= len(game.deals) else 0


def dealt(game: Game, number: int, deal: int) -> tuple[int, ...]:
    """How often the cards of each round were shuffled, that deal of the round included."""
    return (*game.deals[: number - 1], deal, *game.deals[number:])


def rewind(game: Game, to: int, actor: Actor) -> Step:
    """`rewound`: the round as it stood after an earlier event of it, its stock shuffled anew.

    Hands, discard pile and melds stay as they were then. What came after is
    folded back: it stays in the log, and does not count.
    """
    in_play, dealer = _round_of(game), _dealer_of(game)
    node = _past_at(game, to)
    number, ruleset = in_play.number, game.ruleset
    left = set(ruleset.stock(node.state))
    deal = next_deal(game, number)
    stock = [card for card in ruleset.pack(game.options) if card in left]
    state = ruleset.restock(node.state, dealer.deck(stock, number, deal))
    data: JsonMap = {
        "to": to,
        "round": number,
        "deal": deal,
        "stock": len(stock),
        "state_mac": dealer.seal(ruleset.encode(state)),
    }
    back = replace(
        game,
        round=replace(in_play, deal=deal, state=state, past=node),
        absences=(0,) * len(game.occupants),
        deals=dealt(game, number, deal),
        abandoned=(*game.abandoned, (to + 1, game.version)),
    )
    return Draft("rewound", actor, data), back


def _past_at(game: Game, to: int) -> Past:
    """The state of the round at that seq, if it is one of the line that counts."""
    node = _round_of(game).past
    while node is not None and node.seq > to:
        node = node.before
    is_folded = any(first <= to <= last for first, last in game.abandoned)
    if game.is_revealed or game.is_counted or node is None or is_folded or to >= game.version:
        message = "the round can't be taken back to there"
        raise ValueError(message)
    return node


def open_dispute(game: Game, opened: Dispute, actor: Actor) -> Step:
    """`dispute_opened` by the player of a seat: which events it is about, and no word of it."""
    if opened.seat not in game.seats or opened.reason not in REASONS:
        message = "there is no such seat, or no such reason"
        raise ValueError(message)
    if not all(1 <= seq <= game.version for seq in opened.seqs):
        message = "it is about events that are not there"
        raise ValueError(message)
    if opened.seat in (seat for _, seat in game.disputes):
        message = "the seat has an open dispute"
        raise ValueError(message)
    data: JsonMap = {
        "dispute": opened.id,
        "seat": opened.seat,
        "reason": opened.reason,
        "seqs": list(opened.seqs),
    }
    disputes = (*game.disputes, (opened.id, opened.seat))
    return Draft("dispute_opened", actor, data), replace(game, disputes=disputes)


def withdraw_dispute(game: Game, dispute: str, actor: Actor) -> Step:
    """`dispute_withdrawn`."""
    settled = replace(game, disputes=_without(game, dispute))
    return Draft("dispute_withdrawn", actor, {"dispute": dispute}), settled


def _without(game: Game, dispute: str | None) -> tuple[tuple[str, Seat], ...]:
    return tuple((opened, seat) for opened, seat in game.disputes if opened != dispute)


def hold(game: Game, actor: Actor, dispute: str | None) -> Step:
    """`game_held`: nobody moves, and no clock runs."""
    data: JsonMap = {} if dispute is None else {"dispute": dispute}
    held = replace(game, status=Status.HELD, held_for=dispute or "")
    return Draft("game_held", actor, data), held


def let_go(game: Game, actor: Actor) -> Step:
    """`game_resumed`: the turn, and its clock, begin anew."""
    going_on = replace(game, status=Status.ACTIVE, held_for=None)
    return Draft("game_resumed", actor, {}), going_on


def rule(game: Game, ruling: Ruling, actor: Actor) -> Step:
    """`ruling`: what was decided. Remedies that change the table follow as events of their own.

    Scores that it adjusts stand in it; of an ended game, what becomes of the result, too.
    """
    dispute = {} if ruling.dispute is None else {"dispute": ruling.dispute}
    data: JsonMap = {
        "ruling": ruling.id,
        **dispute,
        "outcome": ruling.outcome,
        "remedies": list(ruling.remedies),
    }
    scores = game.scores if ruling.scores is None else ruling.scores
    if len(scores) != len(game.occupants):
        message = "every seat has a score"
        raise ValueError(message)
    after = replace(game, scores=scores, disputes=_without(game, ruling.dispute))
    if ruling.scores is not None:
        data = {**data, "scores": by_seat(scores)}
        after = replace(after, starts=_adjusted(game, scores))
    if game.result is None or not {"adjust_scores", "void"} & set(ruling.remedies):
        return Draft("ruling", actor, data), after
    if "adjust_scores" in ruling.remedies and game.result.reason != FINISHED:
        message = "only scores of a game that was played to its end are adjusted after it"
        raise ValueError(message)
    is_void = "void" in ruling.remedies
    places = () if is_void else game.ruleset.standings(scores).places
    result = Result(reason=VOIDED if is_void else FINISHED, scores=scores, standings=places)
    status = Status.VOIDED if is_void else Status.FINISHED
    return Draft("ruling", actor, {**data, **result.to_json()}), replace(
        after, status=status, result=result
    )


def _adjusted(game: Game, scores: Scores) -> tuple[RoundStart, ...]:
    """The rounds' starts, so that one that is dealt again keeps what was adjusted."""
    changes = [new - old for new, old in zip(scores, game.scores, strict=True)]
    return tuple(
        replace(start, scores=tuple(map(sum, zip(start.scores, changes, strict=True))))
        for start in game.starts
    )


def disclose(game: Game, read: JsonMap) -> Step:
    """`hidden_read_disclosed`: an admin looked at hands while the game ran."""
    return Draft("hidden_read_disclosed", SYSTEM, read), game


def play(game: Game, move: Any, actor: Actor) -> Step:  # noqa: ANN401  the ruleset's own type
    """`move` of the seat that is to act: what was asked, and what everybody saw follow.

    Raises RuleViolation.
    """
    in_play = _round_of(game)
    settled = game.ruleset.settle(in_play.state, move)
    state, outcome = game.ruleset.apply(in_play.state, settled)
    seat = game.ruleset.to_act(in_play.state)
    is_turn_over = game.ruleset.to_act(state) != seat
    data: JsonMap = {
        "seat": seat,
        "move": game.ruleset.write_move(settled),
        "outcome": outcome,
        "state_mac": _dealer_of(game).seal(game.ruleset.encode(state)),
    }
    absences = _absences(game, actor, is_turn_over=is_turn_over)
    played = replace(game, round=replace(in_play, state=state), absences=absences)
    return Draft("move", actor, data), played


def _absences(game: Game, actor: Actor, *, is_turn_over: bool) -> tuple[int, ...]:
    """A turn that the clock played counts, and a move of the player's own ends the count."""
    seat = game.to_act
    if seat is None or actor.kind not in ("clock", "player"):
        return game.absences
    count = game.absences[seat - 1] + is_turn_over if actor.kind == "clock" else 0
    return (*game.absences[: seat - 1], count, *game.absences[seat:])


def absent_turn(game: Game) -> Step:
    """`move` that the clock makes for the seat that is to act."""
    return play(game, game.ruleset.absent_move(_round_of(game).state), CLOCK)


def resign(game: Game, seat: Seat, actor: Actor) -> Step:
    """`seat_replaced`: a player gives up the seat for good, and a bot plays on."""
    return replace_seat(game, seat, SUBSTITUTE, actor, RESIGNED)


def replace_absent(game: Game) -> Step:
    """`seat_replaced`: a bot plays on for a player who let the clock play too often."""
    seats = (seat for seat in game.seats if game.absences[seat - 1] >= ABSENCES_AT_MOST)
    return replace_seat(game, next(seats), SUBSTITUTE, CLOCK, ABSENT)


def come_back(game: Game, seat: Seat, occupant: Occupant, actor: Actor) -> Step:
    """`seat_replaced`: a player who was away takes the seat back from the bot."""
    return replace_seat(game, seat, occupant, actor, RETURNED)


def extend_clock(game: Game, seconds: int, actor: Actor = CLOCK, reason: str = OUTAGE) -> Step:
    """`clock_extended`: the service was down for so long of this turn, or a ruling grants it."""
    data: JsonMap = {"seat": game.to_act, "seconds": seconds, "reason": reason}
    return Draft("clock_extended", actor, data), replace(game, extended=game.extended + seconds)


def hand_over(game: Game, seat: Seat, actor: Actor) -> Step:
    """`seat_replaced`: a ruling gives the seat to a bot."""
    return replace_seat(game, seat, SUBSTITUTE, actor, RULED)


def replace_seat(game: Game, seat: Seat, occupant: Occupant, actor: Actor, reason: str) -> Step:
    """`seat_replaced`: who plays on in the seat, and who may come back to it."""
    before = game.occupant(seat)
    data: JsonMap = {"seat": seat, **occupant.to_json(), "reason": reason}
    away = before.player if before is not None and reason == ABSENT else None
    replaced = replace(
        _with_occupant(game, seat, occupant),
        absences=(*game.absences[: seat - 1], 0, *game.absences[seat:]),
        away=(*game.away[: seat - 1], away, *game.away[seat:]),
    )
    return Draft("seat_replaced", actor, data), replaced


def end_round(game: Game) -> Step:
    """`round_ended`: the hands laid open, and counted."""
    in_play = _round_of(game)
    result = game.ruleset.round_result(in_play.state)
    if result is None:
        message = "the round goes on"
        raise ValueError(message)
    scores = tuple(map(sum, zip(game.scores, result.points, strict=True)))
    data: JsonMap = {
        "round": in_play.number,
        "reason": result.reason,
        "by": result.by,
        "hands": by_seat(sorted(cards_text(hand)) for hand in result.hands),
        "points": by_seat(result.points),
        "scores": by_seat(scores),
    }
    return Draft("round_ended", SYSTEM, data), replace(game, scores=scores, is_counted=True)


def end_game(game: Game) -> Step:
    """`game_ended` after the last round: who won."""
    standings = game.ruleset.standings(game.scores).places
    return _ended(game, Result(reason=FINISHED, scores=game.scores, standings=standings))


def void(game: Game, actor: Actor = SYSTEM) -> Step:
    """`game_ended` without winners: the game does not count."""
    return _ended(game, Result(reason=VOIDED, scores=game.scores, standings=()), actor)


def award(game: Game, standings: Sequence[Sequence[int]], actor: Actor) -> Step:
    """`game_ended` as a ruling has it: who won, whatever the scores are."""
    places = tuple(tuple(Seat(seat) for seat in place) for place in standings)
    if sorted(seat for place in places for seat in place) != list(game.seats) or () in places:
        message = "every seat has one place"
        raise ValueError(message)
    return _ended(game, Result(reason=AWARDED, scores=game.scores, standings=places), actor)


def reveal(game: Game) -> Step:
    """`secret_revealed`: from here on everybody can recompute every deck."""
    data: JsonMap = {"server_secret": game.setup.secret.value.hex()}
    return Draft("secret_revealed", SYSTEM, data), replace(game, is_revealed=True)


def next_type(game: Game) -> str | None:
    """The type of the event that follows of itself, None where somebody is to do something."""
    if game.status.is_over:
        return None if game.is_revealed else "secret_revealed"
    if game.dealer is None or game.status is Status.HELD:
        return None
    if any(count >= ABSENCES_AT_MOST for count in game.absences):
        return "seat_replaced"
    if game.round is None:
        return "round_started"
    if game.is_counted:
        return "round_started" if game.round.number < game.rounds else "game_ended"
    return "round_ended" if game.to_act is None else None


def next_step(game: Game) -> Step | None:
    """What follows of itself once the game has started: rounds, their ends, the reveal."""
    kind = next_type(game)
    return None if kind is None else _OF_ITSELF[kind](game)


def consequences(game: Game, at: str) -> Iterator[Frame]:
    """All that follows of itself, written down in order."""
    while (step := next_step(game)) is not None:
        frame = write(step, game, at)
        yield frame
        game = frame.after


def _ended(game: Game, result: Result, actor: Actor = SYSTEM) -> Step:
    status = Status.FINISHED if result.standings else Status.VOIDED
    return Draft("game_ended", actor, result.to_json()), replace(game, status=status, result=result)


def _with_occupant(game: Game, seat: Seat, occupant: Occupant | None) -> Game:
    occupants = (*game.occupants[: seat - 1], occupant, *game.occupants[seat:])
    return replace(game, occupants=occupants)


def _next_dealer(game: Game) -> Seat:
    """The deal passes to the left."""
    if game.round is not None:
        return next_seat(game.round.dealer, len(game.occupants))
    if game.first_dealer is None:
        message = "the game has not started"
        raise ValueError(message)
    return game.first_dealer


def _dealer_of(game: Game) -> Dealer:
    if game.dealer is None:
        message = "the game has not started"
        raise ValueError(message)
    return game.dealer


def _round_of(game: Game) -> RoundInPlay:
    if game.round is None:
        message = "no round is in play"
        raise ValueError(message)
    return game.round


_OF_ITSELF: Mapping[str, Callable[[Game], Step]] = MappingProxyType(
    {
        "round_started": start_round,
        "round_ended": end_round,
        "game_ended": end_game,
        "secret_revealed": reveal,
        "seat_replaced": replace_absent,
    }
)
