"""Writes the client's models by what `openapi.yaml` says: `make models`.

With `--check` nothing is written, and it fails if the models are not of that description.
"""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
DESCRIPTION = HERE.parents[1] / "openapi.yaml"
MODELS = HERE / "fairdeal_client" / "models.py"
HEAD = '"""What the API takes and answers; generated from `openapi.yaml` by `make models`."""\n\n'
OPTIONS = (
    *("--input-file-type", "openapi", "--output-model-type", "typing.TypedDict"),
    *("--target-python-version", "3.11", "--use-union-operator", "--use-standard-collections"),
    *("--formatters", "builtin", "--disable-timestamp"),
)


def generated() -> str:
    """The models as they should be: plain TypedDicts, which are what JSON is read to."""
    with TemporaryDirectory() as folder:
        output = Path(folder, "models.py")
        command = [sys.executable, "-m", "datamodel_code_generator", *OPTIONS]
        command += ["--input", str(DESCRIPTION), "--output", str(output)]
        subprocess.run(command, check=True)
        text = output.read_text()
    text = text[text.index("from __future__") :]
    text = re.sub(r"^from typing_extensions import .*\n+", "", text, flags=re.MULTILINE)
    text = text.replace("from typing import ", "from typing import TypedDict, ", 1)
    text = re.sub(r",?\s*closed=True,?", "", text)
    return HEAD + text


def main() -> None:
    text = generated()
    if "--check" not in sys.argv:
        MODELS.write_text(text)
    elif not MODELS.exists() or MODELS.read_text() != text:
        sys.exit(f"{MODELS.name} is not what openapi.yaml describes: run `make models`")


if __name__ == "__main__":
    main()
