"""Settings: from the environment, checked all at once, before anything starts."""

import base64
import binascii
import os
import pwd
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from service.store.secret_box import KEY_BYTES

DEFAULT_PORT = 8000
PORTS = range(1, 65536)
DEFAULT_THREADS = 4
DEFAULT_CHECKPOINT_SECONDS = 10
DEFAULT_ORIGIN = "localhost/fairdeal"
ORIGIN = re.compile(r"[!-*,-~]{1,200}")
WORKERS_A_CORE = 2
"""Two processes with few threads serve faster than one with many: a thread waits for its turn."""


class BadSettings(Exception):
    """The environment can't be used; the message lists every fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the service runs.

    `database_url` None means an embedded Postgres under `home`;
    `owner_database_url` is for migrations, where another role owns the tables;
    `proxies` is how many proxies stand before the service and name its
    clients; `metrics_port` is where metrics are served, None for nowhere;
    `has_rate_limits` says whether requests are counted, `has_telemetry`
    whether they are traced;
    `allows_any_address` whether webhooks may be at addresses that are not
    public, as they are in tests; `needs_two_persons` whether an admin needs
    another one's approval to see hands. `listen_url` is a
    direct way to the database, and says that `database_url` leads through a pooler;
    `replica_url` leads to a streaming replica that answers reads.
    `secret_key` encrypts the secrets of games at rest. `signing_keys` is the
    file of the keys that sign, `checkpoints` the folder in which checkpoints
    are published, every `checkpoint_seconds` at most, in the name of `origin`.
    """

    home: Path
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    workers: int = 4
    threads: int = DEFAULT_THREADS
    database_url: str | None = field(default=None, repr=False)
    owner_database_url: str | None = field(default=None, repr=False)
    has_rate_limits: bool = True
    allows_any_address: bool = False
    needs_two_persons: bool = False
    has_telemetry: bool = False
    proxies: int = 0
    metrics_port: int | None = None
    listen_url: str | None = field(default=None, repr=False)
    replica_url: str | None = field(default=None, repr=False)
    postgres_bin: Path | None = None
    signing_keys: Path | None = None
    checkpoints: Path | None = None
    checkpoint_seconds: int = DEFAULT_CHECKPOINT_SECONDS
    origin: str = DEFAULT_ORIGIN

    def as_owner(self) -> "Settings":
        """The same, at the database as the owner of its tables."""
        return replace(self, database_url=self.owner_database_url or self.database_url)

    @property
    def key_file(self) -> Path:
        """The file of the signing keys."""
        return self.signing_keys or self.home / "signing-keys.json"

    @property
    def checkpoint_folder(self) -> Path:
        """The folder in which checkpoints are published."""
        return self.checkpoints or self.home / "checkpoints"

    secret_key: bytes | None = field(default=None, repr=False)


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings that the environment gives; raises BadSettings with all its faults."""
    faults: list[str] = []
    settings = Settings(
        home=_home(environment),
        host=environment.get("HOST", "127.0.0.1"),
        port=_number(environment, "PORT", DEFAULT_PORT, PORTS, faults),
        workers=_number(environment, "FAIRDEAL_WORKERS", _workers(), range(1, 257), faults),
        threads=_number(environment, "FAIRDEAL_THREADS", DEFAULT_THREADS, range(1, 257), faults),
        database_url=_url(environment, "DATABASE_URL", faults),
        owner_database_url=_url(environment, "OWNER_DATABASE_URL", faults),
        has_rate_limits=_switch(environment, "FAIRDEAL_RATE_LIMITS", "on", faults),
        needs_two_persons=_switch(environment, "FAIRDEAL_TWO_PERSONS", "off", faults),
        allows_any_address=_any_address(environment, faults),
        has_telemetry=_switch(environment, "FAIRDEAL_TELEMETRY", "off", faults),
        proxies=_number(environment, "FAIRDEAL_PROXIES", 0, range(9), faults),
        metrics_port=_port(environment, "FAIRDEAL_METRICS_PORT", faults),
        listen_url=_url(environment, "FAIRDEAL_LISTEN_URL", faults),
        replica_url=_url(environment, "FAIRDEAL_REPLICA_URL", faults),
        postgres_bin=_folder(environment, "FAIRDEAL_POSTGRES_BIN", faults),
        secret_key=_key(environment, faults),
        signing_keys=_file(environment, "FAIRDEAL_SIGNING_KEYS"),
        checkpoints=_file(environment, "FAIRDEAL_CHECKPOINTS"),
        checkpoint_seconds=_number(
            environment,
            "FAIRDEAL_CHECKPOINT_SECONDS",
            DEFAULT_CHECKPOINT_SECONDS,
            range(1, 86401),
            faults,
        ),
        origin=_origin(environment, faults),
    )
    if faults:
        raise BadSettings("; ".join(faults))
    return settings


def _home(environment: Mapping[str, str]) -> Path:
    """Where data are kept: as set, else where this account keeps such things."""
    if environment.get("FAIRDEAL_HOME"):
        return Path(environment["FAIRDEAL_HOME"]).absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/fairdeal")
    shared = environment.get("XDG_DATA_HOME")
    own = Path(environment.get("HOME") or pwd.getpwuid(os.geteuid()).pw_dir)
    return (Path(shared) if shared else own / ".local" / "share") / "fairdeal"


def _workers() -> int:
    return WORKERS_A_CORE * (os.cpu_count() or 1)


def _number(
    environment: Mapping[str, str], name: str, default: int, allowed: range, faults: list[str]
) -> int:
    text = environment.get(name) or str(default)
    if text.isascii() and text.isdecimal() and int(text) in allowed:
        return int(text)
    faults.append(f"{name} must be a number from {allowed[0]} to {allowed[-1]}, not {text!r}")
    return default


def _switch(environment: Mapping[str, str], name: str, default: str, faults: list[str]) -> bool:
    text = environment.get(name) or default
    if text not in ("on", "off"):
        faults.append(f"{name} must be on or off, not {text!r}")
    return text == "on"


def _any_address(environment: Mapping[str, str], faults: list[str]) -> bool:
    """Whether webhooks may be at any address; at public ones alone, unless it is said."""
    text = environment.get("FAIRDEAL_WEBHOOK_ADDRESSES") or "public"
    if text not in ("public", "any"):
        faults.append(f"FAIRDEAL_WEBHOOK_ADDRESSES must be public or any, not {text!r}")
    return text == "any"


def _port(environment: Mapping[str, str], name: str, faults: list[str]) -> int | None:
    return _number(environment, name, 0, PORTS, faults) if environment.get(name) else None


def _url(environment: Mapping[str, str], name: str, faults: list[str]) -> str | None:
    url = environment.get(name) or None
    if url is not None and not url.startswith(("postgresql://", "postgres://")):
        faults.append(f"{name} must begin with postgresql://")
    return url


def _folder(environment: Mapping[str, str], name: str, faults: list[str]) -> Path | None:
    text = environment.get(name)
    if not text:
        return None
    if not (Path(text) / "postgres").exists():
        faults.append(f"{name} must be a folder that holds `postgres`")
    return Path(text)


def _file(environment: Mapping[str, str], name: str) -> Path | None:
    text = environment.get(name)
    return Path(text).absolute() if text else None


def _origin(environment: Mapping[str, str], faults: list[str]) -> str:
    """The name of the log: visible characters without a plus sign, as signed notes want it."""
    origin = environment.get("FAIRDEAL_ORIGIN") or DEFAULT_ORIGIN
    if not ORIGIN.fullmatch(origin):
        faults.append("FAIRDEAL_ORIGIN must be visible characters, none of them +")
    return origin


def _key(environment: Mapping[str, str], faults: list[str]) -> bytes | None:
    text = environment.get("FAIRDEAL_SECRET_KEY")
    if not text:
        return None
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        faults.append(f"FAIRDEAL_SECRET_KEY must be {KEY_BYTES} bytes in base64")
    return key
