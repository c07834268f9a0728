"""The line between the service and Postgres is slow, cut, or silent, while games are played."""

import time
from contextlib import closing

import psycopg
from faults.ledgers import PATIENCE, Client, Note, lines_of, play_together, reckon
from faults.lines import Line, Mode, line_to
from faults.servers import gunicorn
from psycopg import sql

from service.store.embedded import Urls

TROUBLES = (Mode.DELAY, Mode.REFUSE, Mode.CUT, Mode.SILENT)
TROUBLE_SECONDS = 1.0
REST_SECONDS = 0.5
CONNECTIONS = 12


def disturb(line: Line) -> None:
    """Each trouble for a moment; what is refused must be asked for anew, so the line is cut."""
    for mode in TROUBLES:
        time.sleep(REST_SECONDS)
        line.mode = mode
        if mode is Mode.REFUSE:
            line.cut_all()
        deadline = time.monotonic() + PATIENCE
        time.sleep(TROUBLE_SECONDS)
        while not line.hits[mode]:
            assert time.monotonic() < deadline, f"nobody noticed: {mode.value}"
            time.sleep(0.05)
        line.mode = Mode.PASS


def test_a_line_that_fails_in_every_way_loses_and_doubles_nothing(own: Urls, note: Note) -> None:
    with line_to(own.service) as (line, url), gunicorn(url) as (port, _):
        clients = [Client(f"http://127.0.0.1:{port}") for _ in range(3)]
        for client in clients:
            client.begin()
        play_together(clients, lambda: disturb(line))
        found = reckon(clients, lines_of)
    assert found.is_clean
    assert found.failed > found.replayed > 0
    note("the line to Postgres is slow, refused, cut after a commit, silent", found)


def test_a_server_without_a_free_connection_is_told_and_nothing_is_lost(
    own: Urls, note: Note
) -> None:
    """Somebody else takes all that the database may have; whoever asks is told to wait."""
    with psycopg.connect(own.superuser, autocommit=True) as superuser:
        limit = sql.SQL("ALTER DATABASE {} CONNECTION LIMIT {}").format(
            sql.Identifier(str(psycopg.conninfo.conninfo_to_dict(own.service)["dbname"])),
            sql.Literal(CONNECTIONS),
        )
        superuser.execute(limit)
        with gunicorn(own.service, FAIRDEAL_THREADS="3") as (port, _):
            clients = [Client(f"http://127.0.0.1:{port}") for _ in range(3)]
            for client in clients:
                client.begin()
            play_together(clients, lambda: crowd(own, superuser))
            found = reckon(clients, lines_of)
    assert found.is_clean
    assert found.failed > 0
    note("every connection of Postgres is taken", found)


def crowd(own: Urls, superuser: psycopg.Connection) -> None:
    """End the service's connections, and take their places before it comes back."""
    time.sleep(0.5)
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND usename = %s"
    )
    name = psycopg.conninfo.conninfo_to_dict(own.service)["dbname"]
    taken: list[psycopg.Connection] = []
    deadline = time.monotonic() + 5
    while len(taken) < CONNECTIONS and time.monotonic() < deadline:
        try:
            taken.append(psycopg.connect(own.service))
        except psycopg.OperationalError:
            superuser.execute(end, [name, "fairdeal_service"])
            taken = [one for one in taken if is_open(one)]
    time.sleep(1.5)
    for one in taken:
        with closing(one):
            pass


def is_open(connection: psycopg.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True
