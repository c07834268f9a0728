import io
import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.proof.receipts import sign_head
from service.store.key_file import KeyFile, NoSigningKeys


def test_the_first_start_makes_a_key_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "keys.json"
    made = KeyFile.at(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = KeyFile.at(path)
    assert again.signer().id == made.signer().id
    assert [key.public for key in made.public_keys()] == [made.signer().public]
    assert sorted(folder.name for folder in path.parent.iterdir()) == ["keys.json"]


def test_processes_that_start_at_once_share_the_first_key(tmp_path: Path) -> None:
    for number in range(10):
        path = tmp_path / f"{number}.json"
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(lambda _, path=path: KeyFile.at(path).signer().id, range(8)))  # type: ignore[misc]
        assert len(set(made)) == 1


def test_a_new_key_signs_and_the_old_ones_receipts_stay_good(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    running, other = KeyFile.at(path), KeyFile.at(path)
    receipt = sign_head(running.signer(), "01j00000000000000000000000", 3, "0" * 64)
    old = running.public_keys()[0]
    fresh = other.rotate()
    assert running.signer().id == fresh.id != old.id
    newest, retired = running.public_keys()
    assert newest == fresh
    assert (retired.public, retired.valid_from) == (old.public, old.valid_from)
    assert retired.valid_until is not None
    assert retired.valid_until > fresh.valid_from
    assert retired.may_have_signed(fresh.valid_from)
    assert receipt.is_signed_by(retired)
    again = other.rotate()
    assert [key.id for key in running.public_keys()] == [again.id, fresh.id, old.id]
    assert running.public_keys()[2] == retired
    kept = json.loads(path.read_text())["keys"]
    assert ["private_key" in key for key in kept] == [True, False, False]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "{}", '{"keys":[]}', '{"keys":[{"public_key":"AA"}]}'])
def test_a_file_that_holds_no_keys_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(text)
    with pytest.raises(NoSigningKeys, match=r"can't be read"):
        KeyFile.at(path)


def test_halves_that_are_no_pair_are_refused(tmp_path: Path) -> None:
    for name in ("1.json", "2.json"):
        KeyFile.at(tmp_path / name)
    keys = json.loads((tmp_path / "1.json").read_text())
    other = json.loads((tmp_path / "2.json").read_text())
    keys["keys"][0]["private_key"] = other["keys"][0]["private_key"]
    (tmp_path / "1.json").write_text(json.dumps(keys))
    with pytest.raises(NoSigningKeys, match="no pair"):
        KeyFile(tmp_path / "1.json")


def test_a_place_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NoSigningKeys, match=r"can't be written to .*/file/keys.json"):
        KeyFile.at(tmp_path / "file" / "keys.json")


def test_a_file_that_is_lost_leaves_the_keys_as_they_were(
    tmp_path: Path, log_lines: io.StringIO
) -> None:
    path = tmp_path / "keys.json"
    running = KeyFile.at(path)
    before = running.signer().id
    path.rename(tmp_path / "elsewhere")
    assert running.signer().id == before
    path.write_text("x")
    assert [key.id for key in running.public_keys()] == [before]
    assert "signing_keys_lost" in log_lines.getvalue()
    with pytest.raises(NoSigningKeys):
        KeyFile(tmp_path / "none.json")


def test_a_link_to_the_file_stays_one(tmp_path: Path) -> None:
    KeyFile.at(tmp_path / "real.json")
    (tmp_path / "keys.json").symlink_to(tmp_path / "real.json")
    linked = KeyFile(tmp_path / "keys.json")
    fresh = linked.rotate()
    assert (tmp_path / "keys.json").is_symlink()
    assert KeyFile(tmp_path / "real.json").signer().id == fresh.id
    assert stat.S_IMODE((tmp_path / "real.json.lock").stat().st_mode) == 0o600
