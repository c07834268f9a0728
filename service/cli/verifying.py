"""`fairdeal verify`: an export, offline; or with --all every game in the database."""

import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from service.cli.plain import counted, plain
from service.proof.checkpoints import read_consistency, read_note
from service.proof.keys import PublicKey, read_keys
from service.proof.outside import Evidence
from service.proof.receipts import Receipt, read_receipt
from service.proof.verdicts import Outcome, Report, Status
from service.proof.verify import verify

EXIT = {Outcome.VERIFIED: 0, Outcome.FAILED: 1, Outcome.INCOMPLETE: 3}
"""What the command ends with; 2 is for what can't be read."""

FILE = click.Path(exists=True, path_type=Path)
SHOWN = {Status.PASSED: "passed", Status.FAILED: "FAILED", Status.NOT_CHECKED: "not checked"}

Value = TypeVar("Value")


@click.command("verify", epilog="Ends with 0 if verified, 1 if something failed, 3 if incomplete.")
@click.argument("file", type=click.File("rb"), required=False)
@click.option("--keys", type=FILE, help="The keys, as GET /keys answers them.")
@click.option("--receipt", "receipts", type=FILE, multiple=True, help="A receipt that was kept.")
@click.option(
    "--checkpoint",
    "checkpoints",
    type=FILE,
    multiple=True,
    help="A checkpoint that was kept, or a folder of them.",
)
@click.option(
    "--consistency",
    "proofs",
    type=FILE,
    multiple=True,
    help="An answer of GET /checkpoints/SIZE/consistency, to connect two checkpoints.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--all", "all_games", is_flag=True, help="Verify every game in the database.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, help="With --all: processes.")
@click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --all: a file of what is verified already, to go on from.",
)
def verify_command(file: Any, *, all_games: bool, **options: Any) -> None:  # noqa: ANN401
    """Check an export: every card as committed, every move legal, nothing rewritten.

    FILE is an export, - for standard input. No network and no database are used.
    """
    if all_games == (file is not None):
        message = "give a FILE, or --all"
        raise click.UsageError(message)
    if all_games:
        everything: Any = import_module("service.cli.auditing")
        sys.exit(everything.verify_all(options["jobs"], options["state"], options["as_json"]))
    text = _text(file)
    report = verify(text, _evidence(options, text))
    if options["as_json"]:
        click.echo(json.dumps(report.to_json(), indent=2))
    else:
        _tell(report)
    sys.exit(EXIT[report.outcome])


def _tell(report: Report) -> None:
    click.echo(plain(f"game {report.game or 'unknown'}, {counted(report.events, 'event')}"))
    for verdict in report.verdicts:
        place = "" if verdict.seq is None else f"event {verdict.seq}: "
        shown = SHOWN[verdict.status]
        click.echo(plain(f"  {shown:<12} {verdict.check.value:<13} {place}{verdict.detail}"))
    click.echo(report.outcome.value)


def _text(file: Any) -> str:  # noqa: ANN401  an open file
    try:
        text: str = file.read().decode()
    except UnicodeDecodeError as error:
        message = "the file is not UTF-8 text"
        raise click.UsageError(message) from error
    if text.startswith('{"type":"/problems/'):
        message = f"the file is a refusal of the service, no export: {plain(text[:200])}"
        raise click.UsageError(message)
    return text


def _evidence(options: dict[str, Any], export: str) -> Evidence:
    keys: Path | None = options["keys"]
    return Evidence(
        keys=None if keys is None else _read(keys, _keys),
        receipts=[_read(path, _receipt) for path in options["receipts"]],
        checkpoints=[_read(_chosen(given, export), read_note) for given in options["checkpoints"]],
        consistency=[
            _read(path, lambda text: read_consistency(json.loads(text)))
            for path in options["proofs"]
        ],
    )


def _keys(text: str) -> Sequence[PublicKey]:
    return read_keys(json.loads(text))


def _receipt(text: str) -> Receipt:
    """A receipt by itself, or in an answer that carries one."""
    value = json.loads(text)
    if isinstance(value, dict) and "receipt" in value:
        value = value["receipt"]
    return read_receipt(value)


def _chosen(given: Path, export: str) -> Path:
    """The file; of a folder of checkpoints the one that the export names, else the largest."""
    if not given.is_dir():
        return given
    found = sorted(given.glob("[0-9]*.txt"))
    if not found:
        message = f"there is no checkpoint in {given}"
        raise click.UsageError(message)
    size = _size_in(export)
    return next((path for path in found if int(path.stem) == size), found[-1])


def _size_in(export: str) -> int | None:
    """The size of the checkpoint in the export's footer, if it has one."""
    try:
        footer = json.loads(export.splitlines()[-1])
        return read_note(footer["inclusion"]["checkpoint"]).checkpoint.size
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _read(path: Path, read: Callable[[str], Value]) -> Value:
    try:
        return read(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        message = f"{path} can't be used: {error}"
        raise click.UsageError(message) from error
