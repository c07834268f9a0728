"""What the benchmarks share: a server of their own, gunicorn over it, and clients that only send."""

import asyncio
import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from service.app import make_services
from service.play.services import Services
from service.settings import Settings
from service.store.embedded import Urls, embedded_postgres
from service.store.schema import migrate

KEYS = Path(gettempdir(), f"fairdeal-bench-{os.getpid()}-keys.json")
"""One key for all processes of this run."""


def services_over(url: str) -> Services:
    return make_services(
        Settings(home=KEYS.parent, signing_keys=KEYS, database_url=url, has_rate_limits=False)
    )


@dataclass(frozen=True)
class Load:
    """How fast requests were answered: requests a second, and latencies in ms."""

    rate: float
    p50: float
    p99: float


@contextmanager
def database() -> Iterator[Urls]:
    with TemporaryDirectory(prefix="fairdeal-bench-") as folder:
        Path(folder).chmod(0o755)
        with embedded_postgres(Path(folder)) as urls:
            migrate(urls.owner)
            yield urls


@contextmanager
def gunicorn(application: str, url: str, workers: int = 4, threads: int = 4) -> Iterator[int]:
    """The application behind the service's own server settings; the port."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", application, "--bind", f"127.0.0.1:{port}"]
    command += [
        "--worker-class",
        "service.web_worker.PatientWorker",
        "--workers",
        str(workers),
        "--threads",
        str(threads),
    ]
    command += ["--no-control-socket", "--keep-alive", "75", "--log-level", "error"]
    environment = {
        **os.environ,
        "DATABASE_URL": url,
        "FAIRDEAL_THREADS": str(threads),
        "FAIRDEAL_SIGNING_KEYS": str(KEYS),
        "FAIRDEAL_RATE_LIMITS": "off",
    }
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            wait_for(port)
            yield port
        finally:
            process.terminate()
            process.wait(40)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/livez", timeout=2)
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError


def post(path: str, body: str, headers: dict[str, str]) -> bytes:
    """A request, ready to send."""
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
    lines += [f"Content-Length: {len(body.encode())}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def load(port: int, clients: Sequence[Sequence[bytes]]) -> Load:
    """Send each client's requests, one after the other on its own connection, all at once."""
    latencies: list[float] = []

    async def client(requests: Sequence[bytes]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request in requests:
            began = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            body = await reader.readexactly(length)
            latencies.append(time.perf_counter() - began)
            if not head.startswith(b"HTTP/1.1 201"):
                raise RuntimeError(head[:60] + body[:400])
        writer.close()
        await writer.wait_closed()

    async def all_clients() -> float:
        began = time.perf_counter()
        await asyncio.gather(*(client(requests) for requests in clients))
        return time.perf_counter() - began

    seconds = asyncio.run(all_clients())
    ordered = sorted(latencies)
    return Load(
        rate=len(ordered) / seconds,
        p50=statistics.median(ordered) * 1000,
        p99=ordered[int(len(ordered) * 0.99)] * 1000,
    )
