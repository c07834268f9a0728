"""`make serve`: one command, that starts everything and leaves nothing behind."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from faults.caller import HTTP
from faults.servers import (
    ROOT,
    descendants,
    fairdeal_serve,
    free_port,
    is_alive,
    wait_for_end,
    wait_until_ready,
)
from prometheus_client.parser import text_string_to_metric_families

from service.api.edge import OPERATIONS
from service.api.problem_pages import PAGES
from service.store import embedded
from service.store.embedded import NoPostgres, embedded_postgres, find_binaries


def register(port: int) -> Any:
    return HTTP.post(f"http://127.0.0.1:{port}/players", json={"name": "Ilze"}).json()


def test_one_command_serves_and_ctrl_c_stops_all_of_it(own_home: Path) -> None:
    port = free_port()
    with fairdeal_serve(own_home, port) as process:
        wait_until_ready(port)
        started = descendants(process.pid)
        names = " ".join(Path(f"/proc/{pid}/cmdline").read_text() for pid in started)
        assert "postgres" in names
        assert "gunicorn" in names
        assert "worker" in names
        until(lambda: f"http://127.0.0.1:{port}" in process.output.read_text())
        status, told = process.end()
        assert status == 0
        assert wait_for_end(started) == []
        assert f"http://127.0.0.1:{port}" in told
        assert "README" in told


def test_data_persist_and_the_quickstart_plays_a_game_to_its_end(own_home: Path) -> None:
    port, metrics = free_port(), free_port()
    with fairdeal_serve(own_home, port, FAIRDEAL_METRICS_PORT=str(metrics)):
        wait_until_ready(port)
        token = register(port)["key"]["token"]
        result = run_quickstart(port)
        assert '"reason":"finished"' in result
        assert result.count('"move":{') > 3
        moves = result.count('"move":{')
        check_metrics(HTTP.get(f"http://127.0.0.1:{metrics}/metrics").text, moves)
        assert HTTP.get(f"http://127.0.0.1:{port}/metrics").status_code == 404
    with fairdeal_serve(own_home, port):
        wait_until_ready(port)
        headers = {"Authorization": f"Bearer {token}"}
        assert HTTP.get(f"http://127.0.0.1:{port}/players/me", headers=headers).status_code == 200
        listed = HTTP.get(f"http://127.0.0.1:{port}/games?status=finished").json()["items"]
        assert len(listed) == 1


def check_metrics(text: str, moves: int) -> None:
    """Everything is counted over all processes, and no label tells of a player or a game."""
    samples = [one for family in text_string_to_metric_families(text) for one in family.samples]
    counted = {
        sample.labels["status"]: sample.value
        for sample in samples
        if sample.name == "fairdeal_requests_total" and sample.labels["operation"] == "makeMoves"
    }
    assert counted.get("201", 0) >= moves / 2  # a line of the script may show two of them
    assert "fairdeal_worker_timestamp_seconds" in text
    assert "fairdeal_request_duration_seconds_bucket" in text
    operations = {operation.id for operation in OPERATIONS} | {"none"}
    known = operations | {page.code for page in PAGES} | {"delivered", "refused", "unanswered"}
    for sample in samples:
        words = {value for name, value in sample.labels.items() if name not in ("status", "le")}
        assert words <= known, sample


def run_quickstart(port: int) -> str:
    """The lines of the README, as they stand, but for the port."""
    readme = (ROOT / "README.md").read_text()
    lines = readme.split("<!-- quickstart")[1].split("```sh\n")[1].split("```")[0]
    assert len([line for line in lines.splitlines() if line.strip()]) <= 7
    assert lines.count("curl") == 6
    script = lines.replace("127.0.0.1:8000", f"127.0.0.1:{port}")
    told = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return told.stdout


def test_a_service_that_is_killed_takes_everything_with_it_and_starts_again(
    own_home: Path,
) -> None:
    port = free_port()
    with fairdeal_serve(own_home, port) as process:
        wait_until_ready(port)
        token = register(port)["key"]["token"]
        started = descendants(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with fairdeal_serve(own_home, port):
            wait_until_ready(port)
            assert wait_for_end(started) == []
            headers = {"Authorization": f"Bearer {token}"}
            me = HTTP.get(f"http://127.0.0.1:{port}/players/me", headers=headers)
            assert me.status_code == 200


def test_a_server_that_is_killed_with_its_parent_starts_again_at_once(own_home: Path) -> None:
    port = free_port()
    with fairdeal_serve(own_home, port) as process:
        wait_until_ready(port)
        token = register(port)["key"]["token"]
        postmaster = postmaster_of(own_home)
        os.kill(process.pid, signal.SIGKILL)
        os.kill(postmaster, signal.SIGKILL)
        process.wait()
        with fairdeal_serve(own_home, port):
            wait_until_ready(port)
            headers = {"Authorization": f"Bearer {token}"}
            me = HTTP.get(f"http://127.0.0.1:{port}/players/me", headers=headers)
            assert me.status_code == 200


def postmaster_of(home: Path) -> int:
    return int((home / "postgres" / "postmaster.pid").read_text().splitlines()[0])


def test_when_a_part_ends_by_itself_all_of_it_ends(own_home: Path) -> None:
    port = free_port()
    with fairdeal_serve(own_home, port) as process:
        wait_until_ready(port)
        started = descendants(process.pid)
        worker = next(
            pid
            for pid in started
            if "worker" in Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        )
        os.kill(worker, signal.SIGKILL)
        assert process.wait() == 1
        assert "ended by itself" in process.output.read_text()
        assert wait_for_end(started) == []


def test_a_port_that_is_taken_is_said_to_be(own_home: Path) -> None:
    port = free_port()
    with fairdeal_serve(own_home, port):
        wait_until_ready(port)
        told = run_cli("serve", FAIRDEAL_HOME=str(own_home / "other"), PORT=str(port))
        assert told.returncode == 1
        assert f"port {port}" in told.stderr
        assert "Traceback" not in told.stderr


def test_a_port_that_a_predecessor_is_leaving_is_waited_for(own_home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as predecessor:
        port = int(predecessor.getsockname()[1])
        with fairdeal_serve(own_home, port) as process:
            time.sleep(2)
            assert process.process.poll() is None
            predecessor.close()
            wait_until_ready(port)


def run_cli(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    kept = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    return subprocess.run(
        [sys.executable, "-m", "service.cli", *arguments],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_what_keeps_the_service_from_starting_is_said_in_a_line(own_home: Path) -> None:
    home = str(own_home / "home")
    for expected, environment in (
        ("port", {"HOST": "nosuch.invalid", "FAIRDEAL_HOME": home}),
        ("FAIRDEAL_HOME", {"FAIRDEAL_HOME": "/proc/nowhere"}),
        ("DATABASE_URL", {"DATABASE_URL": "postgresql://a:b@127.0.0.1:9/x"}),
    ):
        told = run_cli("serve", PORT=str(free_port()), **environment)
        assert told.returncode == 1
        assert expected in told.stderr
        assert "Traceback" not in told.stderr


def test_signals_that_come_twice_stop_the_service_once(own_home: Path) -> None:
    port = free_port()
    with fairdeal_serve(own_home, port) as process:
        wait_until_ready(port)
        started = descendants(process.pid)
        for _ in range(20):
            process.process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
        assert wait_for_end(started) == []


def test_bad_settings_are_listed_without_a_traceback() -> None:
    told = run_cli("serve", PORT="none", FAIRDEAL_THREADS="0")
    assert told.returncode == 1
    assert "PORT" in told.stderr
    assert "FAIRDEAL_THREADS" in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize("command", ["migrate", "worker"])
def test_commands_that_need_a_database_say_so(command: str) -> None:
    told = run_cli(command)
    assert told.returncode == 1
    assert "DATABASE_URL" in told.stderr


def test_the_description_is_checked_by_a_command(tmp_path: Path) -> None:
    file = tmp_path / "openapi.yaml"
    assert run_cli("openapi", "--check", str(file)).returncode == 1
    assert run_cli("openapi", str(file)).returncode == 0
    assert run_cli("openapi", "--check", str(file)).returncode == 0
    file.write_text("other")
    told = run_cli("openapi", "--check", str(file))
    assert told.returncode == 1
    assert "make openapi" in told.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another account")
def test_a_home_that_the_servers_account_can_not_reach_is_refused(own_home: Path) -> None:
    own_home.chmod(0o700)
    told = run_cli("serve", FAIRDEAL_HOME=str(own_home / "inside"), PORT=str(free_port()))
    assert told.returncode == 1
    assert "can't reach" in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another account")
def test_binaries_that_the_servers_account_can_not_read_are_copied(own_home: Path) -> None:
    """As where the virtual environment stands in a folder of root's own."""
    closed = own_home / "closed"
    closed.mkdir(mode=0o700)
    package = find_binaries().parent.parent
    shutil.copytree(package / "pginstall", closed / package.name / "pginstall", symlinks=True)
    shutil.copytree(
        package.with_name(f"{package.name}.libs"), closed / f"{package.name}.libs", symlinks=True
    )
    with embedded_postgres(own_home / "home", closed / package.name / "pginstall" / "bin") as urls:
        assert urls.service
    assert (own_home / "home" / "postgres-binaries").exists()


def test_a_long_home_has_its_socket_elsewhere(own_home: Path) -> None:
    home = own_home / ("x" * 100)
    with embedded_postgres(home) as urls:
        folder = re.split("host=", urls.service)[1]
        assert not folder.startswith(str(home))
        assert Path(folder).stat().st_mode & 0o777 == 0o700


NOBODY = 65534


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as an ordinary account already")
def test_an_ordinary_account_runs_all_of_it(own_home: Path) -> None:
    """Not root: the server runs as oneself."""
    own_home.chmod(0o777)
    script = (
        "from pathlib import Path\n"
        "from service.store.embedded import embedded_postgres\n"
        "from service.store.schema import migrate\n"
        f"with embedded_postgres(Path({str(own_home / 'theirs')!r})) as urls:\n"
        "    migrate(urls.owner)\n"
        "    print('migrated')\n"
    )
    python = next((name for name in (sys.executable, "/usr/bin/python3") if serves(name)), None)
    if python is None:
        pytest.skip("no other account can run a Python that fits these packages")
    told = as_nobody(python, script)
    assert told.stdout.strip() == "migrated", told.stderr


def serves(python: str) -> bool:
    try:
        return as_nobody(python, "import service.store.schema, embedded_postgres").returncode == 0
    except OSError:
        return False


def as_nobody(python: str, script: str) -> "subprocess.CompletedProcess[str]":
    packages = Path(sqlalchemy.__file__).parents[1]
    return subprocess.run(
        [python, "-c", script],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{packages}"},
        user=NOBODY,
        group=NOBODY,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_any_postgres_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda _name: None)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoPostgres, match="DATABASE_URL"):
        embedded.find_binaries()
    assert is_alive(os.getpid())


def test_two_services_do_not_share_a_home(own_home: Path) -> None:
    with (
        embedded_postgres(own_home),
        pytest.raises(NoPostgres, match="another service runs"),
        embedded_postgres(own_home),
    ):
        raise AssertionError("a second server on the same data")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_a_link_in_the_place_of_the_sockets_folder_is_refused(own_home: Path) -> None:
    home = own_home / ("y" * 100)
    with embedded_postgres(home) as urls:
        folder = Path(urls.service.split("host=")[1])
    target = own_home / "target"
    target.mkdir()
    folder.rmdir()
    folder.symlink_to(target)
    try:
        with pytest.raises(NoPostgres, match="no folder of ours"), embedded_postgres(home):
            raise AssertionError("the link was followed")
        assert target.stat().st_uid == 0
    finally:
        folder.unlink()


def test_what_is_served_is_proven_by_the_command_line(own_home: Path, tmp_path: Path) -> None:
    """A game of bots: its export, the published checkpoint, the database, running or not."""
    port = free_port()
    with fairdeal_serve(own_home, port, FAIRDEAL_CHECKPOINT_SECONDS="1"):
        wait_until_ready(port)
        url = f"http://127.0.0.1:{port}"
        headers = {"Authorization": f"Bearer {register(port)['key']['token']}"}
        opening = {
            "ruleset": "jokers-go-boom",
            "seats": 3,
            "sit": False,
            "options": {"rounds": 1},
            "bots": [{"seat": seat} for seat in (1, 2, 3)],
        }
        made = HTTP.post(f"{url}/games", json=opening, headers=headers).json()
        game = made["view"]["game"]
        until(lambda: HTTP.get(f"{url}/games/{game}").json()["status"] == "finished")
        until(lambda: '"inclusion":null' not in HTTP.get(f"{url}/games/{game}/export").text)
        for name, path in (("game.jsonl", f"/games/{game}/export"), ("keys.json", "/keys")):
            (tmp_path / name).write_bytes(HTTP.get(url + path).content)
        (tmp_path / "receipt.json").write_text(json.dumps(made["receipt"]))
        verified = run_cli(
            *("verify", str(tmp_path / "game.jsonl"), "--keys", str(tmp_path / "keys.json")),
            *("--receipt", str(tmp_path / "receipt.json")),
            *("--checkpoint", str(own_home / "checkpoints")),
        )
        assert verified.returncode == 0, verified.stdout + verified.stderr
        assert "not checked" not in verified.stdout
        rotated = run_cli("keys", "rotate", FAIRDEAL_HOME=str(own_home))
        assert rotated.returncode == 0
        fresh = HTTP.post(f"{url}/games", json=opening, headers=headers).json()
        assert fresh["receipt"]["key"] in rotated.stdout
        assert len(HTTP.get(f"{url}/keys").json()["keys"]) == 2
        check_the_database(own_home)
    check_the_database(own_home)


def check_the_database(home: Path) -> None:
    for command in (("verify", "--all"), ("audit",)):
        told = run_cli(*command, FAIRDEAL_HOME=str(home))
        assert told.returncode == 0, told.stdout + told.stderr


def until(holds: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)
