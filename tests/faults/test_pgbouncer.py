"""Through PgBouncer in transaction mode: moves and reads pooled, listening done directly."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
from faults.servers import free_port, gunicorn
from faults.test_streams import Table, open_stream

from service.store.embedded import Urls

POOLER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
CONNECTIONS = 4

CONFIGURATION = """
[databases]
fairdeal = host={socket} dbname={name} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 200
"""


@contextmanager
def pooled(urls: Urls, folder: Path) -> Iterator[str]:
    """A pooler before the database; the way through it."""
    parts = psycopg.conninfo.conninfo_to_dict(urls.service)
    port = free_port()
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(
        CONFIGURATION.format(
            socket=parts["host"],
            name=parts["dbname"],
            user=parts["user"],
            port=port,
            connections=CONNECTIONS,
        )
    )
    configuration.chmod(0o644)
    command = [str(POOLER), "--quiet", str(configuration)]
    if os.geteuid() == 0:
        command[1:1] = ["--user", Path(str(parts["host"])).owner()]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            url = f"postgresql://{parts['user']}@127.0.0.1:{port}/fairdeal"
            wait_for(url)
            yield url
        finally:
            process.terminate()
            process.wait(20)


def wait_for(url: str) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


@pytest.mark.skipif(POOLER is None, reason="pgbouncer is not installed")
def test_games_are_played_and_followed_through_a_pooler(own: Urls, own_home: Path) -> None:
    with (
        pooled(own, own_home) as url,
        gunicorn(url, workers=2, FAIRDEAL_LISTEN_URL=own.service) as (port, _),
        Table(port, rounds=2) as table,
        ExitStack() as stack,
    ):
        table.start()
        version = table.view()["version"]
        streams = [
            open_stream(stack, table, table.keys[seat], after=version)
            for seat in range(3)
            for _ in range(4)
        ]
        for _ in range(30):
            table.move()
        for stream in streams:
            seqs: list[int] = []
            while len(seqs) < 30:
                line = next(stream)
                seqs += [json.loads(line)["seq"]] if line else []
            assert seqs == list(range(version + 1, version + 31))
        table.play()
        assert len(table.exported()) == table.view()["version"]
        with psycopg.connect(own.superuser) as superuser:
            used = superuser.execute(
                "SELECT count(*) FROM pg_stat_activity "
                "WHERE application_name = 'fairdeal' AND datname = %s",
                [psycopg.conninfo.conninfo_to_dict(own.service)["dbname"]],
            ).fetchone()
        assert used is not None
        assert 1 <= used[0] <= CONNECTIONS
