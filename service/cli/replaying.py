"""`fairdeal replay`: a game, step by step, in the terminal."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from service.canonical import JsonMap, dump_json
from service.cards import Seat
from service.cli.plain import plain
from service.fairness import SealedDealer
from service.log.game import Game, Secret
from service.log.projection import view_json
from service.log.replay import ReplayDiverged, replay
from service.log.viewer import SPECTATOR, Viewer, everybody, only
from service.proof.reading import Export, read_export
from service.proof.verdicts import Failed

NEXT, BACK, QUIT = "next", "back", "quit"
KEYS = {"b": BACK, "\x1b[D": BACK, "q": QUIT, "\x03": QUIT, "\x04": QUIT, "\x1b": QUIT}
RULE = "─" * 72


@click.command("replay")
@click.argument("file", type=click.File("r", encoding="utf-8"))
@click.option("--seat", type=click.IntRange(1, 99), help="Through one seat's eyes; all unless set.")
@click.option("--from", "first", type=click.IntRange(1), default=1, help="The first seq.")
@click.option(
    "--all", "at_once", is_flag=True, help="Everything at once, without waiting for keys."
)
def replay_command(file: Any, seat: int | None, first: int, *, at_once: bool) -> None:  # noqa: ANN401
    """Step through an export: what happened, and what lay on the table then.

    A game that goes on shows its public events alone.
    """
    pages = _pages(_read(file), seat)
    if first > len(pages):
        message = f"the game has {len(pages)} events"
        raise click.UsageError(message)
    if at_once or not (sys.stdin.isatty() and sys.stdout.isatty()):
        click.echo("\n".join(pages[first - 1 :]))
        return
    step_through(pages, first - 1)


def step_through(pages: Sequence[str], place: int) -> None:
    """Show a page, wait for a key, show the next one or the one before."""
    while True:
        click.echo(pages[place])
        click.echo("any key: next   b: back   q: quit", err=True)
        wanted = KEYS.get(click.getchar(), NEXT)
        if wanted == QUIT or (wanted == NEXT and place == len(pages) - 1):
            return
        place = max(place - 1, 0) if wanted == BACK else place + 1


def _read(file: Any) -> Export:  # noqa: ANN401  an open file
    try:
        return read_export(file.read())
    except (Failed, UnicodeDecodeError) as error:
        message = f"it is no export: {error}"
        raise click.UsageError(message) from error


def _pages(export: Export, seat: int | None) -> Sequence[str]:
    """A page of text for each event, as far as the log follows from itself."""
    revealed = next((e.data for e in export.events if e.type == "secret_revealed"), None)
    if revealed is None:
        return [_event_text(event) for event in export.events]
    try:
        value = bytes.fromhex(str(revealed.get("server_secret")))
    except ValueError as error:
        message = "what is revealed is no secret: `fairdeal verify` tells more"
        raise click.UsageError(message) from error
    frames = replay(export.events, Secret(value, SealedDealer.of))
    try:
        return [f"{_event_text(frame.event)}\n{_table_text(frame.after, seat)}" for frame in frames]
    except ReplayDiverged as diverged:
        message = f"{plain(str(diverged))}: `fairdeal verify` tells more"
        raise click.UsageError(message) from diverged


def _event_text(event: Any) -> str:  # noqa: ANN401
    actor = " ".join(str(event.actor[key]) for key in ("kind", "id") if key in event.actor)
    facts = "\n".join(
        plain(f"  {name}: {_told(value)}")
        for name, value in event.data.items()
        if name != "state_mac"
    )
    head = plain(f"{event.seq}  {event.type}  by {actor}, {event.at}")
    return f"{RULE}\n{head}\n{facts}"


def _table_text(game: Game, seat: int | None) -> str:
    view: Any = view_json(game, _eyes(game, seat), {}, game.version)
    lines = [_seat_text(shown, view["to_act"]) for shown in view["seats"]]
    if view["table"] is not None:
        lines += [f"  {name}: {_told(value)}" for name, value in view["table"].items()]
    return "\n".join(lines)


def _eyes(game: Game, seat: int | None) -> Viewer:
    if seat is None:
        return everybody(game, SPECTATOR)
    if seat not in game.seats:
        message = f"the seats are 1 to {len(game.seats)}"
        raise click.UsageError(message)
    return only(SPECTATOR, Seat(seat))


def _seat_text(shown: JsonMap, to_act: int | None) -> str:
    hand: Any = shown.get("hand")
    mark = ">" if shown["seat"] == to_act else " "
    cards = " ".join(hand) if hand is not None else f"{shown['cards']} cards"
    return f"{mark} seat {shown['seat']}  score {shown['score']:>4}  {cards}"


def _told(value: Any) -> str:  # noqa: ANN401
    """A value as people read it: cards side by side, maps as pairs, the rest as JSON."""
    if isinstance(value, list) and value:
        return " ".join(map(_told, value))
    if isinstance(value, dict) and value:
        return ", ".join(f"{name} {_told(inner)}" for name, inner in value.items())
    return value if isinstance(value, str) else dump_json(value)
