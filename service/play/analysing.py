"""Whether the shuffle is rigged: the odds of a hand, and what all finished games add up to."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from service.canonical import Json, JsonMap
from service.cards import Card, Seat, cards_text
from service.fairness import SealedDealer
from service.log.game import Game
from service.log.replay import resume
from service.play.games import catch_up, frames_of
from service.play.refusals import EventNotFound, FieldError, GameNotOver, InvalidBody
from service.play.services import Services
from service.proof.statistics import Fit, evenness, odds_of_hand, uniformity
from service.store.reads import finished_games, load, read_milestones

GAMES_AT_ONCE = 500


@dataclass(slots=True)
class Tally:
    """What the finished games of a ruleset, of so many seats, add up to."""

    games: int = 0
    rounds: int = 0
    went_out: Counter[str] = field(default_factory=Counter)
    decks: dict[int, list[tuple[Card, ...]]] = field(default_factory=lambda: defaultdict(list))


def hand_odds(services: Services, game: str, at: int, seat: int) -> JsonMap:
    """How likely the hand is that the seat was dealt in the round of that event.

    Of an ended game. Raises GameNotFound, GameNotOver and EventNotFound.
    """
    present, _ = catch_up(services, game)
    if not present.is_revealed:
        raise GameNotOver
    if seat not in present.seats:
        raise InvalidBody([FieldError("/seat", "There is no such seat.")])
    dealt = _deal_of(services, present, at)
    hand = dealt.ruleset.view(dealt.round.state if dealt.round else None, Seat(seat)).hand or ()
    pack = dealt.ruleset.pack(dealt.options)
    odds: list[Any] = [
        {
            "kind": one.kind,
            "count": one.count,
            "of": one.of,
            "one_in": round(float(1 / one.likelihood), 2),
            "exact": f"{one.likelihood.numerator}/{one.likelihood.denominator}",
            "words": one.words(len(hand), len(pack)),
        }
        for one in odds_of_hand(pack, hand)
    ]
    return {"dealt_at": dealt.version, "seat": seat, "hand": cards_text(hand), "odds": odds}


def _deal_of(services: Services, game: Game, at: int) -> Game:
    """The game right after the deal of the round that the event is of."""
    if not 1 <= at <= game.version:
        raise EventNotFound(version=game.version)
    deals = read_milestones(services.database, game.id, "round_started")
    before = [event.seq for event in deals if event.seq <= at]
    if not before:
        raise EventNotFound(version=game.version)
    (frame,) = frames_of(services, game, before[-1], before[-1])
    return frame.after


def statistics(services: Services) -> JsonMap:
    """All finished games but sandbox games, by ruleset and seats: their shuffles, who went out."""
    tallies: dict[tuple[str, str, int], Tally] = defaultdict(Tally)
    for game in _finished(services):
        _add(services, game, tallies)
    return {
        "games": sum(tally.games for tally in tallies.values()),
        "tables": [_tally_json(key, tally) for key, tally in sorted(tallies.items())],
    }


def _finished(services: Services) -> Iterator[str]:
    after = ""
    while games := finished_games(services.database, after, GAMES_AT_ONCE):
        yield from games
        after = games[-1]


def _add(services: Services, game: str, tallies: dict[tuple[str, str, int], Tally]) -> None:
    stored = load(services.database, game, SealedDealer.of)
    if stored is None:
        return
    secret, events = stored
    found = resume(events, secret)
    tally = tallies[found.ruleset.name, found.ruleset.version, len(found.occupants)]
    tally.games += 1
    if found.dealer is None:
        return
    pack = found.ruleset.pack(found.options)
    for event in read_milestones(services.database, game, "round_started"):
        data: Any = event.data
        deck = found.dealer.deck(pack, data["round"], data["deal"])
        tally.decks[len(pack)].append(deck)
    for event in read_milestones(services.database, game, "round_ended"):
        tally.rounds += 1
        if event.data["by"] is not None:
            tally.went_out[str(event.data["by"])] += 1


def _tally_json(key: tuple[str, str, int], tally: Tally) -> JsonMap:
    name, version, seats = key
    even = evenness(tally.went_out, {str(seat): 1 / seats for seat in range(1, seats + 1)})
    shuffles: list[Json] = [
        {"cards": size, "decks": len(decks), **_fit_json(uniformity(decks))}
        for size, decks in sorted(tally.decks.items())
    ]
    return {
        "ruleset": name,
        "version": version,
        "seats": seats,
        "games": tally.games,
        "rounds": tally.rounds,
        "went_out": {
            "counts": {str(seat): tally.went_out[str(seat)] for seat in range(1, seats + 1)},
            **_fit_json(even),
        },
        "shuffles": shuffles,
    }


def _fit_json(fit: Fit) -> dict[str, Any]:
    return {
        "chi_square": round(fit.statistic, 3),
        "freedom": fit.freedom,
        "p": round(fit.likelihood, 6),
    }


def statistics_text(found: JsonMap) -> Sequence[str]:
    """The same for people."""
    told: Any = found
    lines = [f"{told['games']} finished games"]
    for table in told["tables"]:
        lines.append(
            f"{table['ruleset']} {table['version']}, {table['seats']} seats: "
            f"{table['games']} games, {table['rounds']} rounds"
        )
        counts = ", ".join(f"seat {s} {n}" for s, n in table["went_out"]["counts"].items())
        lines.append(f"  went out: {counts} (p = {table['went_out']['p']:.3f} if seats are even)")
        lines += [
            f"  shuffles of {s['cards']} cards: {s['decks']} decks, chi-square "
            f"{s['chi_square']:.0f} with {s['freedom']} degrees of freedom "
            f"(p = {s['p']:.3f} if every place is as likely)"
            for s in table["shuffles"]
        ]
    return lines
