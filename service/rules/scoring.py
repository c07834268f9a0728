"""Who won, where points count against a seat."""

from service.cards import Seat
from service.rules.ruleset import Scores, Standings


def fewest_points_win(scores: Scores) -> Standings:
    """Seats in the order of their points, fewest first; equal seats share a place."""
    return Standings(
        tuple(
            tuple(Seat(seat) for seat, score in enumerate(scores, 1) if score == points)
            for points in sorted(set(scores))
        )
    )
