"""A short run of the fuzzer over what strangers send, from examples of each."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden"
RUNS = 4_000
EXAMPLES = (
    b'\x00{"name":"Ilze"}',
    b'\x01{"move":{"type":"play","card":"4h"},"expected_version":3}',
    b'\x01{"moves":[{"type":"meld","cards":["3c","7d","7h"],"as":["7c","7d","7h"]}],"seat":2}',
    b'\x02{"ruleset":"jokers-go-boom","seats":3,"bots":[{"seat":2,"level":"random"}]}',
    b"\x03Bearer fd_pk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    b"\x0401j00000000000000000000001",
    b"\x0701j00000000000000000000001:17,probe:ab",
)


@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not to be had here")
def test_no_decoder_fails_otherwise_than_by_refusing(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    game = (GOLDEN / "jokers-go-boom-1-1.jsonl").read_bytes()
    first = game.splitlines()[1]
    examples = (*EXAMPLES, b"\x05" + first, b"\x06" + b"\n".join(game.splitlines()[:6]) + b"\n")
    for number, example in enumerate(examples):
        (corpus / str(number)).write_bytes(example)
    ran = subprocess.run(
        [sys.executable, HERE / "decoders.py", f"-runs={RUNS}", "-seed=7", "-max_len=2000", corpus],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert ran.returncode == 0, ran.stderr[-3000:] + ran.stdout[-3000:]
    assert f"Done {RUNS}" in ran.stderr
