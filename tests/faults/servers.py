"""The service in processes of its own, as people run it, for tests that end those processes."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

ROOT = Path(__file__).parents[2]
READY_SECONDS = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def wait_until_ready(port: int) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not is_ready(port):
        assert time.monotonic() < deadline, "the service did not become ready"
        time.sleep(0.05)


@contextmanager
def gunicorn(
    database_url: str, workers: int = 2, **settings: str
) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """The web processes alone, over that database; their port and their arbiter."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "service.app:wsgi()"]
    command += ["--bind", f"127.0.0.1:{port}", "--workers", str(workers), "--threads", "8"]
    command += [
        "--worker-class",
        "service.web_worker.PatientWorker",
        "--no-control-socket",
        "--log-level",
        "critical",
    ]
    keys = Path(gettempdir(), f"fairdeal-test-{os.getpid()}-keys.json")
    environment = {
        **os.environ,
        "DATABASE_URL": database_url,
        "FAIRDEAL_SIGNING_KEYS": str(keys),
        "FAIRDEAL_RATE_LIMITS": "off",
        **settings,
    }
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            wait_until_ready(port)
            yield port, process
        finally:
            process.terminate()
            process.wait(30)


@dataclass(frozen=True)
class Served:
    """`fairdeal serve` in a process, and the file that it talks to."""

    process: "subprocess.Popen[bytes]"
    output: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def end(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """Send the signal and wait; its exit status, and all that it said."""
        self.process.send_signal(number)
        return self.wait(), self.output.read_text()

    def wait(self) -> int:
        return self.process.wait(60)


@contextmanager
def fairdeal_serve(home: Path, port: int, **settings: str) -> Iterator[Served]:
    """`fairdeal serve` with its embedded Postgres, as `make serve` runs it."""
    few = {"FAIRDEAL_WORKERS": "2"}  # each takes seconds to start
    environment = {**os.environ, **few, "FAIRDEAL_HOME": str(home), "PORT": str(port), **settings}
    environment.pop("DATABASE_URL", None)
    output = home.with_name(f"{home.name}-{port}.log")
    with (
        output.open("ab") as told,
        subprocess.Popen(
            [sys.executable, "-m", "service.cli", "serve"],
            env=environment,
            cwd=ROOT,
            stdout=told,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield Served(process, output)
        except BaseException:
            sys.stderr.write(f"fairdeal serve, {process.poll()}:\n{output.read_text()}")
            raise
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(60)
            output.unlink(missing_ok=True)


def descendants(pid: int) -> list[int]:
    """The processes that the process started, and theirs."""
    told = subprocess.run(
        ["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout
    parents = {int(child): int(parent) for child, parent in map(str.split, told.splitlines())}
    found, edge = [], {pid}
    while edge := {child for child, parent in parents.items() if parent in edge}:
        found += sorted(edge)
    return found


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
    return "State:\tZ" not in status


def wait_for_end(pids: list[int], seconds: float = 20) -> list[int]:
    """The processes that are still there after that time."""
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in pids if is_alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left
