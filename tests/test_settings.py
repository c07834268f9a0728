import base64
import os
from pathlib import Path

import pytest

from service.settings import BadSettings, read_settings


def test_nothing_need_be_set() -> None:
    settings = read_settings({"HOME": "/home/ilze"})
    assert (settings.port, settings.host, settings.database_url) == (8000, "127.0.0.1", None)
    assert settings.workers >= 2
    expected = "/var/lib/fairdeal" if os.geteuid() == 0 else "/home/ilze/.local/share/fairdeal"
    assert settings.home == Path(expected)


def test_what_is_set_counts(tmp_path: Path) -> None:
    (tmp_path / "postgres").touch()
    settings = read_settings(
        {
            "PORT": "8123",
            "HOST": "0.0.0.0",  # noqa: S104  a setting, not bound to
            "FAIRDEAL_HOME": str(tmp_path),
            "FAIRDEAL_WORKERS": "3",
            "FAIRDEAL_THREADS": "4",
            "DATABASE_URL": "postgres://u:pw@db/x",
            "OWNER_DATABASE_URL": "postgresql://owner@db/x",
            "FAIRDEAL_POSTGRES_BIN": str(tmp_path),
            "FAIRDEAL_SECRET_KEY": base64.b64encode(b"k" * 32).decode(),
        }
    )
    assert (settings.port, settings.workers, settings.threads) == (8123, 3, 4)
    assert (settings.home, settings.postgres_bin) == (tmp_path, tmp_path)
    assert settings.secret_key == b"k" * 32
    assert "pw" not in repr(settings)
    assert "kkkk" not in repr(settings)


def test_switches_and_names_are_read(tmp_path: Path) -> None:
    settings = read_settings(
        {
            "HOME": str(tmp_path),
            "FAIRDEAL_RATE_LIMITS": "off",
            "FAIRDEAL_ORIGIN": "cards.example/log",
            "FAIRDEAL_SIGNING_KEYS": str(tmp_path / "keys"),
            "FAIRDEAL_CHECKPOINTS": str(tmp_path / "published"),
            "FAIRDEAL_PROXIES": "2",
            "FAIRDEAL_METRICS_PORT": "9100",
            "FAIRDEAL_TWO_PERSONS": "on",
            "FAIRDEAL_WEBHOOK_ADDRESSES": "any",
        }
    )
    assert (settings.has_rate_limits, settings.proxies) == (False, 2)
    assert settings.allows_any_address
    assert (settings.metrics_port, settings.needs_two_persons) == (9100, True)
    assert read_settings({"HOME": str(tmp_path)}).metrics_port is None
    assert not read_settings({"HOME": str(tmp_path)}).allows_any_address
    assert settings.key_file == tmp_path / "keys"
    assert settings.checkpoint_folder == tmp_path / "published"
    for name, value in (
        ("FAIRDEAL_RATE_LIMITS", "maybe"),
        ("FAIRDEAL_ORIGIN", "a+b"),
        ("FAIRDEAL_ORIGIN", "a b"),
        ("FAIRDEAL_PROXIES", "-1"),
        ("FAIRDEAL_METRICS_PORT", "x"),
        ("FAIRDEAL_TWO_PERSONS", "yes"),
        ("FAIRDEAL_WEBHOOK_ADDRESSES", "all"),
    ):
        with pytest.raises(BadSettings, match=name):
            read_settings({"HOME": str(tmp_path), name: value})


def test_every_fault_is_listed_at_once() -> None:
    with pytest.raises(BadSettings) as caught:
        read_settings(
            {
                "PORT": "0",
                "FAIRDEAL_WORKERS": "many",
                "FAIRDEAL_THREADS": "-1",
                "DATABASE_URL": "mysql://x",
                "FAIRDEAL_POSTGRES_BIN": "/nowhere",
                "FAIRDEAL_SECRET_KEY": "short",
            }
        )
    for name in (
        "PORT",
        "FAIRDEAL_WORKERS",
        "FAIRDEAL_THREADS",
        "DATABASE_URL",
        "FAIRDEAL_POSTGRES_BIN",
        "FAIRDEAL_SECRET_KEY",
    ):
        assert name in str(caught.value)
