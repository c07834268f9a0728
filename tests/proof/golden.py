"""Golden games: exports that every later release must verify. They are only ever added to.

`python -m proof.golden`, in tests/, plays those of GAMES that are not there yet.
"""

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proof.exports import KEYRING, export_of, play

from service.proof.keys import PublicKey, read_keys

FOLDER = Path(__file__).parent.parent / "golden"
LIST = FOLDER / "SHA256SUMS"
GAMES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "jokers-go-boom 1": (
        {"seats": 3, "rounds": 3},
        {"seats": 4, "rounds": 4, "jokers": 6, "after_boom": "card_below"},
        {"seats": 4, "rounds": 1, "jokers": 0},
        {"seats": 3, "rounds": 2, "boom_call": "required"},
    ),
    "crazy-rummy 1": (
        {"seats": 3, "rounds": 13},
        {"seats": 4, "rounds": 2, "discard_taken": "forbidden"},
        {"seats": 5, "rounds": 1},
        {"seats": 6, "rounds": 3},
    ),
}
"""What is played for each ruleset version; a new version needs an entry of its own."""


def golden_games() -> Sequence[Path]:
    return sorted(FOLDER.glob("*.jsonl"))


def golden_keys() -> Sequence[PublicKey]:
    return read_keys(json.loads((FOLDER / "keys.json").read_text()))


def listed() -> dict[str, str]:
    """The games that there must be, by name, and the SHA-256 of each."""
    lines = (line.split("  ") for line in LIST.read_text().splitlines())
    return {name: digest for digest, name in lines}


def add_missing() -> None:
    """Play what stands in GAMES and is in no file yet."""
    FOLDER.mkdir(exist_ok=True)
    keys = {"keys": [key.to_json() for key in KEYRING.public_keys()]}
    (FOLDER / "keys.json").write_text(json.dumps(keys, indent=2) + "\n")
    for ruleset, games in GAMES.items():
        name, version = ruleset.split()
        for number, game in enumerate(games, 1):
            path = FOLDER / f"{name}-{version}-{number}.jsonl"
            if not path.exists():
                path.write_text(export_of(play(name, number, **game)))
                with LIST.open("a") as file:
                    file.write(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")


if __name__ == "__main__":
    sys.exit(add_missing())
