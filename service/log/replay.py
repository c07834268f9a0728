"""From the log back to the game: the rules engine run again, and held against the record.

A reader skips the types that it does not know. Nothing is papered over: the
first event that does not follow from those before it is named by its seq.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from service.canonical import JsonMap, canonical_text
from service.cards import Seat, next_seat
from service.log import steps
from service.log.events import GENESIS, SYSTEM, Actor, Event, milliseconds
from service.log.game import (
    Game,
    Occupant,
    Rematch,
    RoundInPlay,
    RoundStart,
    Secret,
    Status,
)
from service.log.steps import VOIDED, Frame, Opening, Step, moved_on
from service.rules.registry import UnknownRuleset, find
from service.rules.violation import RuleViolation

_OF_A_ROUND = frozenset({"move", "round_ended", "game_ended"})


UNREADABLE = (UnknownRuleset, ValueError, LookupError, TypeError, AttributeError)
"""What comes of data that no service of ours would write."""

VISIBILITIES = ("public", "private")
KINDS = ("human", "bot")
ADMIN = "admin"
SETTING_UP = frozenset({"game_created", "seat_taken", "seat_left", "game_started"})
IN_TURN = frozenset({"move", "seat_replaced", "clock_extended"})
"""What may happen while somebody is to act."""

DISPUTED = frozenset({"dispute_opened", "dispute_withdrawn", "ruling"})
"""What may happen at any time once a game has started."""

REMEDIES = frozenset({"rewound", "round_started", "game_ended", "seat_replaced"})
"""What only a referee may have happen out of turn."""

FOLDING = frozenset({"ruling", "rewound"})
DEALING = SETTING_UP | FOLDING | {"round_started"}
"""What the cards are dealt by: with these alone each deal can be taken again."""


class ReplayDiverged(Exception):
    """The log says one thing and the rules another, or it can't be read.

    `seq` is where, `type` the type of that event, `field` what in it does not
    follow and `rule` the number of the rule that it breaks, where it is one of these.
    """

    def __init__(
        self, event: Event, reason: str, field: str | None = None, rule: str | None = None
    ) -> None:
        """Name the event and what is wrong with it."""
        super().__init__(f"event {event.seq}: {reason}")
        self.seq = event.seq
        self.type = event.type
        self.reason = reason
        self.field = field
        self.rule = rule


def replay(events: Iterable[Event], secret: Secret) -> Iterator[Frame]:
    """Every event of a log from seq 1, between the games before and after it.

    Raises ReplayDiverged at the first event that does not follow.
    """
    game: Game | None = None
    for event in events:
        frame = advance(game, event, secret)
        yield frame
        game = frame.after


def resume(events: Iterable[Event], secret: Secret) -> Game:
    """The game after events with gaps: earlier rounds may be left out.

    A round is a snapshot: nothing hidden carries over, so the events that set
    the game up, and those since a `round_started`, are enough.
    """
    game: Game | None = None
    line = list(events)
    last = max((e.seq for e in line if e.type == "round_started"), default=0)
    for event in line:
        if game is not None and event.seq < last and event.type not in SETTING_UP:
            game = _told(game, event)
            continue
        if game is not None and _is_cut(game, event, last):
            game = _skipped(game, event)
        game = advance(game, event, secret).after
    if game is None:
        message = "a log has at least one event"
        raise ValueError(message)
    return game


def _is_cut(game: Game, event: Event, last: int) -> bool:
    """Whether what came before the event was left out, or was only believed."""
    return event.seq != game.version + 1 or (event.seq == last and bool(game.starts))


def _told(game: Game, event: Event) -> Game:
    """The game after what happened in a round that is left out; raises ReplayDiverged.

    It is believed: who sits there, what was dealt, what a ruling changed.
    """
    before = replace(game, version=event.seq - 1)
    try:
        told = _TOLD[event.type](before, event) if event.type in _TOLD else before
    except UNREADABLE as error:
        raise ReplayDiverged(event, f"{event.type} can't be read: {error}") from error
    return replace(told, version=event.seq, head=event.hash, at=event.at)


def _told_seat(game: Game, event: Event) -> Game:
    data: Any = event.data
    occupant = _occupant({**data, "contribution": ""})
    return steps.replace_seat(game, _seat(game, data), occupant, steps.CLOCK, data["reason"])[1]


def _told_round(game: Game, event: Event) -> Game:
    """A round that was dealt; one that was dealt before is void, and all that came since."""
    data: Any = event.data
    number, deal, dealer = (_needed(data[name]) for name in ("round", "deal", "dealer"))
    scores = tuple(_needed(data["scores"][str(seat)]) for seat in game.seats)
    back = game
    if number <= len(game.starts):
        abandoned = (game.starts[number - 1].seq, event.seq - 1)
        back = replace(
            game, starts=game.starts[: number - 1], abandoned=(*game.abandoned, abandoned)
        )
    start = RoundStart(event.seq, Seat(dealer), scores)
    return replace(
        back,
        scores=scores,
        starts=(*back.starts, start),
        deals=steps.dealt(game, number, deal),
    )


def _told_rewind(game: Game, event: Event) -> Game:
    data: Any = event.data
    number, deal, to = (_needed(data[name]) for name in ("round", "deal", "to"))
    if not 0 < number == len(game.starts) or deal != steps.next_deal(game, number):
        message = "the round, or its deal, is another"
        raise ValueError(message)
    return replace(
        game,
        deals=steps.dealt(game, number, deal),
        abandoned=(*game.abandoned, (to + 1, event.seq - 1)),
    )


def _told_ruling(game: Game, event: Event) -> Game:
    """Scores that were adjusted; what of an ended game, is checked with the rest of it."""
    ruling = _ruling(game, event.data)
    return steps.rule(replace(game, result=None), ruling, SYSTEM)[1]


_TOLD: Mapping[str, Callable[[Game, Event], Game]] = MappingProxyType(
    {
        "seat_replaced": _told_seat,
        "round_started": _told_round,
        "rewound": _told_rewind,
        "ruling": _told_ruling,
        "dispute_opened": lambda game, event: _open_dispute(game, event.data, SYSTEM)[1],
        "dispute_withdrawn": lambda game, event: _withdraw_dispute(game, event.data, SYSTEM)[1],
        "game_held": lambda game, event: _hold(game, event.data, SYSTEM)[1],
        "game_resumed": lambda game, _: steps.let_go(game, SYSTEM)[1],
    }
)
"""What is believed of each type where its round is left out."""


def _skipped(game: Game, event: Event) -> Game:
    """The game as it stood before the event, where rounds were left out; raises ReplayDiverged."""
    try:
        return _skip_to(game, event)
    except UNREADABLE as error:
        raise ReplayDiverged(event, f"{event.type} can't be read: {error}") from error


def check_deals(events: Iterable[Event], secret: Secret) -> None:
    """Take the cut and every deal of the log again, whatever was played; raises ReplayDiverged."""
    game: Game | None = None
    for event in events:
        if event.type not in DEALING:
            continue
        if game is not None and event.type in FOLDING:
            game = _told(game, event)
            continue
        if game is not None and event.seq != game.version + 1:
            _refuse_other_round(game, event)
            game = _skipped(game, event)
        game = advance(game, event, secret).after


def _refuse_other_round(game: Game, event: Event) -> None:
    """The first deal is by the seat that the cut chose, the next by the seat at its left."""
    if event.type != "round_started" or event.actor.get("kind") == ADMIN:
        return
    number, dealer = 1, game.first_dealer
    if game.round is not None:
        number, dealer = game.round.number + 1, next_seat(game.round.dealer, len(game.occupants))
    for field, expected in (("round", number), ("dealer", dealer)):
        if event.data.get(field) != expected:
            raise ReplayDiverged(event, f"{field} is not what follows", field=field)


def advance(game: Game | None, event: Event, secret: Secret) -> Frame:
    """The event between the games before and after it; raises ReplayDiverged.

    Every recorded consequence, `state_mac` included, must be reproduced.
    """
    expected = (game.version + 1, game.head) if game else (1, GENESIS)
    if (event.seq, event.prev) != expected:
        raise ReplayDiverged(event, "it does not follow the event before it")
    try:
        step = _step(game, event, secret)
    except RuleViolation as violation:
        reason = f"rule {violation.rule} forbids it: {violation}"
        raise ReplayDiverged(event, reason, rule=violation.rule) from violation
    except UNREADABLE as error:
        raise ReplayDiverged(event, f"{event.type} can't be replayed: {error}") from error
    if step is None:
        if game is None:
            raise ReplayDiverged(event, "a log begins with game_created")
        after = game
    else:
        draft, after = step
        if canonical_text(draft.data) != canonical_text(event.data):
            field = _difference(draft.data, event.data)
            reason = f"{field} is not what follows from the events before"
            raise ReplayDiverged(event, reason, field=field)
    return Frame(game, event, moved_on(game, after, event))


def _step(game: Game | None, event: Event, secret: Secret) -> Step | None:
    """The step that the event records, taken again; None for a type that is skipped."""
    who: Any = event.actor
    actor = Actor(**who)
    if event.type == "game_created":
        if game is not None:
            message = "a game is created once"
            raise ValueError(message)
        return _create(event, secret, actor)
    again = _AGAIN.get(event.type)
    if game is None or again is None:
        return None
    _refuse_disorder(game, event)
    _refuse_early_clock(game, event)
    return again(game, event.data, actor)


def _refuse_disorder(game: Game, event: Event) -> None:
    """What follows of itself comes next and nothing else; where nothing does, what one may do."""
    expected = steps.next_type(game)
    is_void = event.type == "game_ended" and event.data.get("reason") == VOIDED
    is_refereed = event.actor.get("kind") == ADMIN and event.type in REMEDIES
    if expected is not None:
        is_next = event.type == expected and not is_void
    elif game.status is Status.OPEN:
        is_start = event.type == "game_started" and game.is_full
        is_next = is_void or is_start or event.type in ("seat_taken", "seat_left")
    else:
        is_next = event.type in _MAY_COME[game.status] | DISPUTED or (
            not game.status.is_over and (is_void or is_refereed)
        )
    if not is_next:
        message = f"{expected or 'something else'} comes next"
        raise ValueError(message)


_MAY_COME: Mapping[Status, frozenset[str]] = MappingProxyType(
    {
        Status.ACTIVE: IN_TURN | {"game_held"},
        Status.HELD: frozenset({"game_held", "game_resumed", "seat_replaced"}),
        Status.FINISHED: frozenset({"hidden_read_disclosed"}),
        Status.VOIDED: frozenset({"hidden_read_disclosed"}),
    }
)
"""What may happen where nothing follows of itself, beside disputes."""


def _needed(value: Any) -> int:  # noqa: ANN401
    if type(value) is not int:
        message = "it is no whole number"
        raise ValueError(message)
    return value


def _list(value: Any) -> list[Any]:  # noqa: ANN401
    if not isinstance(value, list):
        message = "it is no list"
        raise TypeError(message)
    return value


def _text(value: Any) -> str:  # noqa: ANN401
    if not isinstance(value, str) or not value:
        message = "it is no text"
        raise ValueError(message)
    return value


def _create(event: Event, secret: Secret, actor: Actor) -> Step:
    data: Any = event.data
    if data["visibility"] not in VISIBILITIES or data["sandbox"] not in (None, secret.value.hex()):
        message = "its visibility or its sandbox is none"
        raise ValueError(message)
    ruleset = find(data["ruleset"], data["ruleset_version"])
    opening = Opening(
        ruleset=ruleset,
        options=ruleset.read_options(data["options"]),
        seats=data["seats"],
        visibility=data["visibility"],
        sandbox=data["sandbox"],
        turn_seconds=_whole(data.get("turn_seconds")),
        spectators=data.get("spectators", "public"),
        spectator_delay=_whole(data.get("spectator_delay")) or 0,
        rematch=_rematch(data),
        hold_on_dispute=_flag(data, "hold_on_dispute"),
    )
    return steps.create(event.game, opening, secret, actor, event.at)


def _flag(data: Any, name: str) -> bool:  # noqa: ANN401
    if name in data and data[name] is not True:
        message = "what is not so is left out"
        raise ValueError(message)
    return name in data


def _rematch(data: Any) -> Rematch | None:  # noqa: ANN401
    if "rematch" not in data:
        return None
    told = data["rematch"]
    seats = [str(seat) for seat in range(1, data["seats"] + 1)]
    players = tuple(map(told["players"].get, seats))
    if not all(isinstance(text, str) for text in (told["of"], *filter(None, players))):
        message = "ids are texts"
        raise ValueError(message)
    return Rematch(of=told["of"], dealer=Seat(_whole(told["dealer"]) or 0), players=players)


def _whole(value: Any) -> int | None:  # noqa: ANN401
    if value is not None and type(value) is not int:
        message = "it is no whole number"
        raise ValueError(message)
    return value


def _take_seat(game: Game, data: Any, actor: Actor) -> Step:  # noqa: ANN401
    seat, occupant = _seat(game, data), _occupant(data)
    sitting = game.occupant(seat)
    if sitting is not None and (sitting.player is None or sitting.player != occupant.player):
        message = "somebody else sits there"
        raise ValueError(message)
    return steps.take_seat(game, seat, occupant, actor)


def _leave_seat(game: Game, data: Any, actor: Actor) -> Step:  # noqa: ANN401
    seat = _seat(game, data)
    if game.occupant(seat) is None:
        message = "nobody sits there"
        raise ValueError(message)
    return steps.leave_seat(game, seat, actor)


def _seat(game: Game, data: Any) -> Seat:  # noqa: ANN401
    if type(data["seat"]) is not int or data["seat"] not in game.seats:
        message = "there is no such seat"
        raise ValueError(message)
    return Seat(data["seat"])


def _play(game: Game, data: Any, actor: Actor) -> Step:  # noqa: ANN401
    step = steps.play(game, game.ruleset.read_move(data["move"]), actor)
    return steps.absent_turn(game) if actor.kind == "clock" else step


def _refuse_early_clock(game: Game, event: Event) -> None:
    """The clock acts for a person whose time is up, and is put back by no more than has passed."""
    if event.actor["kind"] != "clock" or event.type not in ("move", "clock_extended"):
        return
    seconds, occupant = game.setup.turn_seconds, game.occupant_to_act
    if seconds is None or occupant is None or occupant.player is None:
        message = "there is no clock for that seat"
        raise ValueError(message)
    passed = milliseconds(event.at) - milliseconds(game.turn_at)
    more: Any = event.data.get("seconds", 0)
    if passed < 1000 * (seconds + game.extended) or 1000 * (game.extended + more) > passed + 1000:
        message = "the time is not up, or is put back by more than has passed"
        raise ValueError(message)


def _replace_seat(game: Game, data: Any, actor: Actor) -> Step:  # noqa: ANN401
    if steps.next_type(game) == "seat_replaced":
        return steps.replace_absent(game)
    if actor.kind == ADMIN:
        return steps.hand_over(game, _seat(game, data), actor)
    seat, who = _seat(game, data), actor.id if actor.kind == "player" else None
    sitting, reason = game.occupant(seat), data["reason"]
    if who is not None and reason == steps.RETURNED and game.away[seat - 1] == who:
        occupant = _occupant({**data, "contribution": ""})
        if occupant.player == who:
            return steps.come_back(game, seat, occupant, actor)
    is_own = who is not None and sitting is not None and sitting.player == who
    if is_own and reason == steps.RESIGNED:
        return steps.resign(game, seat, actor)
    message = "nobody replaces that seat so"
    raise ValueError(message)


def _extend_clock(game: Game, data: Any, actor: Actor) -> Step:  # noqa: ANN401
    seconds = _whole(data["seconds"])
    if seconds is None or seconds <= 0 or game.setup.turn_seconds is None:
        message = "the clock can't be extended so"
        raise ValueError(message)
    if actor.kind == ADMIN:
        return steps.extend_clock(game, seconds, actor, steps.RULED)
    return steps.extend_clock(game, seconds)


def _start_round(game: Game, data: Any, actor: Actor) -> Step:  # noqa: ANN401
    if actor.kind == ADMIN:
        return steps.redeal(game, _needed(data["round"]), actor)
    return steps.start_round(game)


def _end_game(game: Game, data: Any, actor: Actor) -> Step:  # noqa: ANN401
    if data["reason"] == VOIDED:
        return steps.void(game, actor)
    return (
        steps.award(game, data["standings"], actor) if actor.kind == ADMIN else steps.end_game(game)
    )


def _rewind(game: Game, data: Any, actor: Actor) -> Step:  # noqa: ANN401
    _refuse_other_than_admin(actor)
    return steps.rewind(game, _needed(data["to"]), actor)


def _open_dispute(game: Game, data: Any, actor: Actor) -> Step:  # noqa: ANN401
    opened = steps.Dispute(
        id=_text(data["dispute"]),
        seat=_seat(game, data),
        reason=data["reason"],
        seqs=tuple(map(_needed, _list(data["seqs"]))),
    )
    return steps.open_dispute(game, opened, actor)


def _withdraw_dispute(game: Game, data: Any, actor: Actor) -> Step:  # noqa: ANN401
    _refuse_closed(game, _text(data["dispute"]))
    return steps.withdraw_dispute(game, _text(data["dispute"]), actor)


def _hold(game: Game, data: Any, actor: Actor) -> Step:  # noqa: ANN401
    return steps.hold(game, actor, _text(data["dispute"]) if "dispute" in data else None)


def _refuse_closed(game: Game, dispute: str) -> None:
    if not game.is_disputed_by(dispute):
        message = "there is no such open dispute"
        raise ValueError(message)


def _rule(game: Game, data: Any, actor: Actor) -> Step:  # noqa: ANN401
    _refuse_other_than_admin(actor)
    if "dispute" in data:
        _refuse_closed(game, _text(data["dispute"]))
    return steps.rule(game, _ruling(game, data), actor)


def _ruling(game: Game, data: Any) -> steps.Ruling:  # noqa: ANN401
    remedies = tuple(map(_text, _list(data["remedies"])))
    if data["outcome"] not in steps.OUTCOMES or not set(remedies) <= set(steps.REMEDIES):
        message = "there is no such outcome, or no such remedy"
        raise ValueError(message)
    scores = None
    if "adjust_scores" in remedies:
        scores = tuple(_needed(data["scores"][str(seat)]) for seat in game.seats)
    return steps.Ruling(
        id=_text(data["ruling"]),
        outcome=data["outcome"],
        remedies=remedies,
        dispute=_text(data["dispute"]) if "dispute" in data else None,
        scores=scores,
    )


def _refuse_other_than_admin(actor: Actor) -> None:
    if actor.kind != ADMIN:
        message = "only a referee rules"
        raise ValueError(message)


_AGAIN: Mapping[str, Callable[[Game, Any, Actor], Step]] = MappingProxyType(
    {
        "seat_taken": _take_seat,
        "seat_left": _leave_seat,
        "game_started": lambda game, _data, _actor: steps.start(game),
        "round_started": _start_round,
        "move": _play,
        "round_ended": lambda game, _data, _actor: steps.end_round(game),
        "game_ended": _end_game,
        "secret_revealed": lambda game, _data, _actor: steps.reveal(game),
        "seat_replaced": _replace_seat,
        "clock_extended": _extend_clock,
        "dispute_opened": _open_dispute,
        "dispute_withdrawn": _withdraw_dispute,
        "game_held": _hold,
        "game_resumed": lambda game, _data, actor: steps.let_go(game, actor),
        "ruling": _rule,
        "rewound": _rewind,
        "hidden_read_disclosed": lambda game, data, _actor: steps.disclose(game, data),
    }
)
"""How each type of event is taken again, from what it says was asked."""


def _occupant(data: JsonMap) -> Occupant:
    fields: Any = data
    texts = [fields["contribution"], fields["player"] if "player" in fields else fields["bot"]]
    if fields["kind"] not in KINDS or not all(isinstance(text, str) for text in texts):
        message = "nobody sits so"
        raise ValueError(message)
    return Occupant(
        kind=fields["kind"],
        player=fields.get("player"),
        level=fields.get("bot"),
        contribution=fields["contribution"],
    )


def _skip_to(game: Game, event: Event) -> Game:
    """The game as it stood before the event, where rounds were left out before it."""
    if event.type == "round_started" and event.actor.get("kind") != ADMIN:
        return _before_round(game, event)
    if event.type in _OF_A_ROUND:
        raise ReplayDiverged(event, "events of its round are missing before it")
    return replace(game, version=event.seq - 1, head=event.prev)


def _before_round(game: Game, event: Event) -> Game:
    """The game between two rounds: who dealt last, and the scores."""
    data: Any = event.data
    seats = len(game.occupants)
    before = RoundInPlay(
        number=data["round"] - 1,
        deal=0,
        dealer=Seat((data["dealer"] - 2) % seats + 1),
        state=None,
    )
    scores = tuple(data["scores"][str(seat)] for seat in game.seats)
    if any(type(value) is not int for value in (*scores, data["round"], data["dealer"])):
        message = "a round has a number, a dealer and scores"
        raise ValueError(message)
    return replace(
        game, version=event.seq - 1, head=event.prev, round=before, scores=scores, is_counted=True
    )


def _difference(replayed: JsonMap, recorded: JsonMap) -> str:
    """The first field, by name, in which the record differs from the replay."""
    fields = sorted({*replayed, *recorded})
    return next(name for name in fields if _field(replayed, name) != _field(recorded, name))


def _field(data: JsonMap, name: str) -> str:
    """The field's canonical text; true is not 1, and null is not absent."""
    return canonical_text({name: data[name]} if name in data else {})
