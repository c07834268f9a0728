"""`fairdeal serve`: everything that it takes, started in order and stopped in order."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import click
from prometheus_client import CollectorRegistry, multiprocess, start_http_server

from service.settings import Settings
from service.store.embedded import embedded_postgres, end_with_parent
from service.store.key_file import KeyFile
from service.store.schema import migrate
from service.worker.stop import Stop

MEASURES = "PROMETHEUS_MULTIPROC_DIR"
READY_SECONDS = 30
STOP_SECONDS = 40
POLL_SECONDS = 0.2
PORT_SECONDS = 5
WAKEUP_CONNECTIONS = 2
SPARE_CONNECTIONS = 20
"""For whoever looks on: psql, a backup, the superuser."""
BIND_ALL = "0.0.0.0"  # noqa: S104  compared with, not bound to

WELCOME = """
Fairdeal serves at {url}

  Play in a browser    {url}/
  The API as a page    {url}/docs
  Register             curl -s {url}/players -H 'Content-Type: application/json' -d '{{"name": "Ilze"}}'
  A whole game         see "Play a game" in the README

Ctrl-C stops everything.
"""  # noqa: E501  a line to paste


def serve(settings: Settings) -> int:
    """Serve until told to stop; the exit status."""
    stop = _stop_by_signals()
    _refuse_taken_port(settings)
    click.echo("Starting …")
    with ExitStack() as stack:
        placed = _with_database(settings, stack)
        KeyFile.at(settings.key_file)
        migrate(placed.owner_database_url or str(placed.database_url))
        return _run(placed, (_gunicorn(placed), _worker()), stack, stop)


def serve_web(settings: Settings) -> int:
    """Serve by web processes alone until told to stop; the exit status.

    The database was migrated before, and workers run somewhere else.
    """
    stop = _stop_by_signals()
    _refuse_taken_port(settings)
    click.echo("Starting …")
    with ExitStack() as stack:
        return _run(settings, (_gunicorn(settings),), stack, stop)


def _stop_by_signals() -> Stop:
    stop = Stop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop.set)
    return stop


def _run(
    settings: Settings, commands: Sequence[Sequence[str]], stack: ExitStack, stop: Stop
) -> int:
    """Run the parts of the service, and serve what they measure, until told to stop."""
    environment = _environment(settings)
    folder = _metrics_folder(settings)
    if folder is not None:
        environment = {**environment, MEASURES: str(folder)}
    parts = [stack.enter_context(_process(command, environment)) for command in commands]
    if folder is not None:
        _serve_metrics(settings, folder)
    return _watch(settings, parts, stop)


def _metrics_folder(settings: Settings) -> Path | None:
    """Where the processes write what they measure, empty; None where nobody asks for it."""
    if settings.metrics_port is None:
        return None
    folder = settings.home / "metrics"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _serve_metrics(settings: Settings, folder: Path) -> None:
    """Serve what all processes measured, on a port of its own, until this process ends."""
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry, str(folder))  # type: ignore[no-untyped-call]
    port = settings.metrics_port or 0
    try:
        start_http_server(port, settings.host, registry)
    except OSError as error:
        message = f"can't serve metrics on port {port} of {settings.host}: {error.strerror}"
        raise click.ClickException(message) from error


def _with_database(settings: Settings, stack: ExitStack) -> Settings:
    """The settings with the database that they name, or with the embedded one, started."""
    if settings.database_url is not None:
        return settings
    each = settings.threads + WAKEUP_CONNECTIONS
    connections = (settings.workers + 1) * each + SPARE_CONNECTIONS
    server = embedded_postgres(settings.home, settings.postgres_bin, connections)
    urls = stack.enter_context(server)
    return replace(settings, database_url=urls.service, owner_database_url=urls.owner)


def _watch(settings: Settings, processes: "Sequence[subprocess.Popen[bytes]]", stop: Stop) -> int:
    """Wait until asked to stop, or until a part ends by itself."""
    url = _url(settings)
    deadline = time.monotonic() + READY_SECONDS
    is_welcomed = False
    while not stop.wait(POLL_SECONDS):
        if any(process.poll() is not None for process in processes):
            click.echo("A part of the service ended by itself: stopping the rest.", err=True)
            return 1
        if not is_welcomed and _is_ready(url):
            is_welcomed = True
            click.echo(WELCOME.format(url=url))
        if not is_welcomed and time.monotonic() > deadline:
            click.echo("The service did not become ready.", err=True)
            return 1
    click.echo("Stopping …")
    return 0


def _url(settings: Settings) -> str:
    host = "127.0.0.1" if settings.host == BIND_ALL else settings.host
    return f"http://{host}:{settings.port}"


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=2) as answer:  # noqa: S310  our own
            return bool(answer.status == 200)  # noqa: PLR2004  the HTTP status
    except (urllib.error.URLError, OSError):
        return False


def _refuse_taken_port(settings: Settings) -> None:
    """Refuse a port that can't be had; a service on its way out is given a moment to leave it."""
    deadline = time.monotonic() + PORT_SECONDS
    while (error := _bind_error(settings)) is not None:
        if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
            message = f"can't serve on port {settings.port} of {settings.host}: {error.strerror}"
            raise click.ClickException(message) from error
        time.sleep(POLL_SECONDS)


def _bind_error(settings: Settings) -> OSError | None:
    """Why the port can't be bound; None if it can."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            return error
    return None


def _gunicorn(settings: Settings) -> Sequence[str]:
    return [
        *(sys.executable, "-m", "gunicorn", "service.app:wsgi()"),
        *("--bind", f"{settings.host}:{settings.port}"),
        *("--worker-class", "service.web_worker.PatientWorker"),
        *("--workers", str(settings.workers)),
        *("--threads", str(settings.threads)),
        *("--keep-alive", "75"),
        *("--graceful-timeout", "25"),
        *("--no-control-socket", "--log-level", "warning"),
        *("--config", "python:service.web_processes"),
    ]


def _worker() -> Sequence[str]:
    return [sys.executable, "-m", "service.cli", "worker"]


def _environment(settings: Settings) -> Mapping[str, str]:
    return {**os.environ, "DATABASE_URL": str(settings.database_url)}


@contextmanager
def _process(
    command: Sequence[str], environment: Mapping[str, str]
) -> "Iterator[subprocess.Popen[bytes]]":
    """A part of the service, in a process of its own that ends with this one."""
    process = subprocess.Popen(  # noqa: S603  the commands are made in this module
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=end_with_parent,  # noqa: PLW1509  no thread runs yet
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
