"""What operators are given fits the service: dashboard, alerts, containers, settings, contents."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from prometheus_client.metrics import MetricWrapperBase

from service import metrics
from service.cli.group import COMMANDS

ROOT = Path(__file__).parents[1]
SCRIPTS = Path(sys.executable).parent
NAME = re.compile(r"\bfairdeal_[a-z_]+")
SUFFIXES = ("_bucket", "_total", "_count", "_sum")


def declared() -> set[str]:
    made = (value for value in vars(metrics).values() if isinstance(value, MetricWrapperBase))
    return {one.describe()[0].name for one in made}


def plain(name: str) -> str:
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


@pytest.mark.parametrize("file", ["grafana.json", "alerts.yml"])
def test_what_is_looked_at_is_measured(file: str) -> None:
    text = (ROOT / "ops" / file).read_text()
    named = {plain(name) for name in NAME.findall(text)}
    assert named
    assert named <= declared()


def test_the_dashboard_shows_all_that_is_measured() -> None:
    board = json.loads((ROOT / "ops" / "grafana.json").read_text())
    shown = " ".join(query["expr"] for panel in board["panels"] for query in panel["targets"])
    assert {plain(name) for name in NAME.findall(shown)} == declared()
    places = [tuple(panel["gridPos"].values()) for panel in board["panels"]]
    assert len(set(places)) == len(places)


def test_the_description_of_the_containers_is_valid() -> None:
    check = [SCRIPTS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec"]
    told = subprocess.run(
        [*check, "docker-compose.yml"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stdout


def test_the_image_is_made_as_images_should_be() -> None:
    told = subprocess.run(
        [SCRIPTS / "hadolint", "Dockerfile"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stdout
    text = (ROOT / "Dockerfile").read_text()
    assert text.count("FROM ") == 2
    assert "USER 10001" in text


def test_the_containers_run_commands_that_there_are_with_settings_that_there_are() -> None:
    described = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    settings = (ROOT / "service" / "settings.py").read_text()
    for name, service in described["services"].items():
        command = service.get("command", [])
        if command[:1] == ["fairdeal"]:
            assert command[1] in COMMANDS, name
            assert service["read_only"] is True
            for variable in service["environment"]:
                assert f'"{variable}"' in settings, variable
        for needed in service.get("depends_on", {}):
            assert needed in described["services"]
    assert described["services"]["replica"]["profiles"] == ["replica"]


def test_every_setting_stands_in_the_readme() -> None:
    settings = set(re.findall(r'"((?:FAIRDEAL_|[A-Z]*DATABASE_)[A-Z_]+)"', _settings()))
    readme = (ROOT / "README.md").read_text()
    assert {name for name in settings if f"`{name}`" not in readme} == set()


def _settings() -> str:
    return (ROOT / "service" / "settings.py").read_text()


def test_the_list_of_contents_names_all_that_is_pinned() -> None:
    command = [SCRIPTS / "cyclonedx-py", "requirements", "requirements/base.txt"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    named = {(one["name"], one["version"]) for one in json.loads(told)["components"]}
    text = (ROOT / "requirements" / "base.txt").read_text()
    pinned = set(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", text, re.MULTILINE))
    assert len(pinned) > 20
    assert named == pinned
