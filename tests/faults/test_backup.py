"""The guide to backup and restore, its commands run as they stand."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from faults.ledgers import Client, lines_of, reckon
from faults.servers import ROOT, fairdeal_serve, free_port, wait_until_ready

from service.store.embedded import any_postgres, find_binaries

GUIDE = ROOT / "docs" / "backup.md"


def blocks() -> list[str]:
    return re.findall(r"```sh\n(.*?)```", GUIDE.read_text(), re.DOTALL)


def run(script: str, folder: Path, **environment: str) -> str:
    path = f"{find_binaries()}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    told = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout


def give(folder: Path, like: Path) -> None:
    """To the account that the server runs as, as the guide says."""
    owner = like.stat()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def play(client: Client, moves: int) -> None:
    is_over = threading.Event()
    playing = threading.Thread(target=client.play, args=(is_over,))
    playing.start()
    while len(client.keys) < moves and playing.is_alive():
        playing.join(0.05)
    is_over.set()
    playing.join()


def wait_for_files(folder: Path) -> None:
    deadline = time.monotonic() + 20
    while not (folder.is_dir() and any(folder.iterdir())):
        assert time.monotonic() < deadline, "nothing was published"
        time.sleep(0.1)


def test_what_the_guide_saves_is_verified_and_serves_again(own_home: Path) -> None:
    backup, restore, serve = blocks()
    assert serve.strip() == "fairdeal serve"
    home, port = own_home / "home", free_port()
    settings = {"FAIRDEAL_CHECKPOINT_SECONDS": "1", "FAIRDEAL_RATE_LIMITS": "off"}
    client = Client(f"http://127.0.0.1:{port}")
    with fairdeal_serve(home, port, **settings):
        wait_until_ready(port)
        client.begin()
        play(client, 15)
        wait_for_files(home / "checkpoints")
        with any_postgres(home) as urls:
            run(backup, own_home, FAIRDEAL_HOME=str(home), SUPERUSER_URL=urls.superuser)
        give(own_home / "backup" / "postgres", home / "postgres")
        saved = len(client.keys)
    shutil.rmtree(home)
    told = run(restore, own_home)
    assert "all verified" in told
    with fairdeal_serve(own_home / "restored", port, **settings):
        wait_until_ready(port)
        play(client, saved + 10)
        assert len(client.keys) > saved
        assert reckon([client], lines_of).is_clean
