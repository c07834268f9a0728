"""The database, checked from the command line: every game, and the published checkpoint."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import click

from service.app import make_services
from service.cli.plain import counted, plain
from service.cli.saying import said_in_a_line, the_settings, with_database
from service.play.auditing import Finding, audit, verify_stored
from service.play.services import Services
from service.proof.checkpoints import SignedNote, read_note
from service.settings import Settings
from service.store.published import last_published
from service.store.reads import count_games, heads_after, orphans

GAMES_AT_ONCE = 20
PAGE = 1_000


def verify_all(jobs: int, state: Path | None, as_json: bool) -> int:  # noqa: FBT001
    """Verify every game in the database; the exit status."""
    with said_in_a_line(), _services_here(the_settings()) as (settings, services):
        known = _known(state)
        findings = 0
        total = count_games(services.database)
        with _progress(total, "Verifying") as bar, _kept(state) as keep:
            for game, head, found in _verified(settings, services, jobs, known):
                findings += len(found)
                _tell(found, as_json=as_json)
                if not found:
                    keep(game, head)
                bar.update(1)
        missing = [
            Finding(check="stored", detail="there are events and no game", game=game)
            for game in orphans(services.database)
        ]
        _tell(missing, as_json=as_json)
    findings += len(missing)
    verdict = counted(findings, "finding") if findings else "all verified"
    click.echo(f"{counted(total, 'game')}: {verdict}", err=as_json)
    return 1 if findings else 0


@click.command("audit")
@click.option(
    "--checkpoint",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A checkpoint that was kept; the last published one unless given.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON, a line each.")
def audit_command(checkpoint: Path | None, *, as_json: bool) -> None:
    """Hold the database against a published checkpoint: to see whether it was rewritten."""
    with said_in_a_line():
        settings = the_settings()
        note = _note(settings, checkpoint)
        with _services_here(settings) as (_, services):
            findings = 0
            for finding in audit(services, note):
                findings += 1
                _tell([finding], as_json=as_json)
    verdict = counted(findings, "finding") if findings else "nothing was rewritten"
    click.echo(f"checkpoint {note.checkpoint.size}: {verdict}", err=as_json)
    sys.exit(1 if findings else 0)


@contextmanager
def _services_here(settings: Settings) -> "Iterator[tuple[Settings, Services]]":
    """The settings with their database, and the services over it, closed afterwards."""
    with with_database(settings) as placed:
        services = make_services(placed)
        try:
            yield placed, services
        finally:
            services.database.engine.dispose()


def _note(settings: Settings, path: Path | None) -> SignedNote:
    if path is None:
        note = last_published(settings.checkpoint_folder)
        if note is None:
            message = f"there is no checkpoint in {settings.checkpoint_folder} yet"
            raise click.ClickException(message)
        return note
    try:
        return read_note(path.read_text(encoding="utf-8"))
    except ValueError as error:
        message = f"{path}: {error}"
        raise click.ClickException(message) from error


def _verified(
    settings: Settings, services: Services, jobs: int, known: Mapping[str, str]
) -> Iterator[tuple[str, str, Sequence[Finding]]]:
    """Each game, its head, and what is wrong with it; those known to be right are not read."""
    pages = _pages(services, known)
    if jobs == 1:
        for page in pages:
            yield from ((game, head, verify_stored(services, game)) for game, head in page)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for checked in pool.map(_verify_page, ((settings, page) for page in pages)):
            yield from checked


def _pages(services: Services, known: Mapping[str, str]) -> Iterator[list[tuple[str, str]]]:
    after = ""
    while heads := heads_after(services.database, after, PAGE):
        after = heads[-1][0]
        left = [(game, head) for game, head in heads if known.get(game) != head]
        for start in range(0, len(left), GAMES_AT_ONCE):
            yield left[start : start + GAMES_AT_ONCE]


def _verify_page(
    task: tuple[Settings, list[tuple[str, str]]],
) -> list[tuple[str, str, Sequence[Finding]]]:
    """In a process of its own: some games verified."""
    settings, page = task
    services = _services(settings)
    return [(game, head, verify_stored(services, game)) for game, head in page]


@cache
def _services(settings: Settings) -> Services:
    return make_services(settings)


def _known(state: Path | None) -> Mapping[str, str]:
    """The games that were verified before, and their heads then."""
    if state is None or not state.exists():
        return {}
    lines = (line.split() for line in state.read_text(encoding="ascii").splitlines())
    return {line[0]: line[1] for line in lines if len(line) == 2}  # noqa: PLR2004  game, head


@contextmanager
def _kept(state: Path | None) -> "Iterator[Callable[[str, str], None]]":
    """Notes what is verified, line by line, so that the next run can go on from there."""
    if state is None:
        yield lambda _game, _head: None
        return
    with state.open("a", encoding="ascii") as file:
        yield lambda game, head: print(game, head, file=file, flush=True)


def _progress(total: int, label: str) -> "click._termui_impl.ProgressBar[int]":
    return click.progressbar(length=total, label=label, file=sys.stderr)


def _tell(findings: Sequence[Finding], *, as_json: bool) -> None:
    for finding in findings:
        if as_json:
            click.echo(json.dumps(finding.to_json()))
            continue
        place = f" event {finding.seq}" if finding.seq is not None else ""
        told = f"game {finding.game or '-'}{place}: {finding.check}: {finding.detail}"
        click.echo(plain(told))
