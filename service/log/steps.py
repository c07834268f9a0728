"""What can happen at a table: each function is one event, and the game after it.

The same functions write the log and read it. A live move goes through `play`,
and a replay goes through `play` again with what the log says was asked, and
compares what follows with what the log says followed.

No step checks who may ask for it: the use cases do.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from service.canonical import JsonMap
from service.cards import Seat, card_text, cards_text, next_seat, pack
from service.fairness import ALGORITHM, SECRET_BYTES, Dealer, commitment
from service.log.events import GENESIS, SYSTEM, Actor, Draft, Event, by_seat, chained
from service.log.game import Game, Occupant, Rematch, Result, RoundInPlay, Secret, Setup, Status
from service.rules.ruleset import AnyRuleset, Round

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
FINISHED = "finished"
VOIDED = "voided"


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


def write(step: Step, before: Game | None, at: str) -> Frame:
    """Give the step its place after the game's last event."""
    draft, after = step
    version, head = (before.version, before.head) if before else (0, GENESIS)
    event = chained(draft, game=after.id, seq=version + 1, at=at, prev=head)
    return Frame(before, event, moved_on(before, after, event))


def moved_on(before: Game | None, after: Game, event: Event) -> Game:
    """The game after the step, at its event's place; the clock starts anew with each turn."""
    is_new_turn = after.to_act is not None and (
        event.type == "round_started" or before is None or before.to_act != after.to_act
    )
    placed = replace(after, version=event.seq, head=event.hash, at=event.at)
    return replace(placed, turn_at=event.at, extended=0) if is_new_turn else placed


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
    seat = _next_dealer(game)
    dealer = _dealer_of(game)
    deck = dealer.deck(game.ruleset.pack(game.options), number, 0)
    state = game.ruleset.deal(game.options, Round(number, seat, len(game.occupants)), deck)
    data: JsonMap = {
        "round": number,
        "deal": 0,
        "dealer": seat,
        "first": game.ruleset.first(state),
        "scores": by_seat(game.scores),
        **game.ruleset.facts(state),
        "state_mac": dealer.seal(game.ruleset.encode(state)),
    }
    in_play = RoundInPlay(number=number, deal=0, dealer=seat, state=state)
    nobody = (0,) * len(game.occupants)
    started = replace(game, round=in_play, is_counted=False, absences=nobody)
    return Draft("round_started", SYSTEM, data), started


def play(game: Game, move: Any, actor: Actor) -> Step:  # noqa: ANN401  the ruleset's own type
    """`move` of the seat that is to act: what was asked, and what everybody saw follow.

    Raises RuleViolation.
    """
    in_play = _round_of(game)
    settled = game.ruleset.settle(in_play.state, move)
    state, outcome = game.ruleset.apply(in_play.state, settled)
    data: JsonMap = {
        "seat": game.ruleset.to_act(in_play.state),
        "move": game.ruleset.write_move(settled),
        "outcome": outcome,
        "state_mac": _dealer_of(game).seal(game.ruleset.encode(state)),
    }
    played = replace(game, round=replace(in_play, state=state))
    return Draft("move", actor, data), replace(played, absences=_absences(game, played, actor))


def _absences(before: Game, after: Game, actor: Actor) -> tuple[int, ...]:
    """A turn that the clock played counts, and a move of the player's own ends the count."""
    seat = before.to_act
    if seat is None or actor.kind not in ("clock", "player"):
        return before.absences
    is_turn_over = after.to_act != seat
    count = before.absences[seat - 1] + is_turn_over if actor.kind == "clock" else 0
    return (*before.absences[: seat - 1], count, *before.absences[seat:])


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


def extend_clock(game: Game, seconds: int) -> Step:
    """`clock_extended`: the service was down for so long of this turn."""
    data: JsonMap = {"seat": game.to_act, "seconds": seconds, "reason": OUTAGE}
    return Draft("clock_extended", CLOCK, data), replace(game, extended=game.extended + seconds)


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


def void(game: Game) -> Step:
    """`game_ended` without winners: the game does not count."""
    return _ended(game, Result(reason=VOIDED, scores=game.scores, standings=()))


def reveal(game: Game) -> Step:
    """`secret_revealed`: from here on everybody can recompute every deck."""
    data: JsonMap = {"server_secret": game.setup.secret.value.hex()}
    return Draft("secret_revealed", SYSTEM, data), replace(game, is_revealed=True)


def next_type(game: Game) -> str | None:
    """The type of the event that follows of itself, None where somebody is to do something."""
    if game.status.is_over:
        return None if game.is_revealed else "secret_revealed"
    if game.dealer is None:
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


def _ended(game: Game, result: Result) -> Step:
    status = Status.FINISHED if result.standings else Status.VOIDED
    return Draft("game_ended", SYSTEM, result.to_json()), replace(
        game, status=status, result=result
    )


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
