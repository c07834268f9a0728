"""Seats: places at the table, numbered clockwise from 1."""

from collections.abc import Iterator
from typing import NewType

Seat = NewType("Seat", int)


def next_seat(seat: Seat, seats: int) -> Seat:
    """The seat at the left of `seat`; seat 1 follows the last."""
    return Seat(seat % seats + 1)


def clockwise(after: Seat, seats: int) -> Iterator[Seat]:
    """Every seat once, beginning at the left of `after` and ending with it."""
    seat = after
    for _ in range(seats):
        seat = next_seat(seat, seats)
        yield seat
