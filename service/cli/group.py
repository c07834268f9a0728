"""The commands by name, each loaded when it is asked for.

So the verifier runs without a web framework or a database at hand.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

import click

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "admin": "service.cli.admins:admin_group",
        "audit": "service.cli.auditing:audit_command",
        "keys": "service.cli.keys:keys_group",
        "migrate": "service.cli.commands:migrate_command",
        "openapi": "service.cli.commands:openapi_command",
        "partition": "service.cli.partitioning:partition_command",
        "replay": "service.cli.replaying:replay_command",
        "retain": "service.cli.retaining:retain_command",
        "serve": "service.cli.commands:serve_command",
        "stats": "service.cli.analysing:stats_command",
        "verify": "service.cli.verifying:verify_command",
        "web": "service.cli.commands:web_command",
        "worker": "service.cli.commands:worker_command",
    }
)


class Commands(click.Group):
    """A group that finds its commands by where they stand."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """The names, in order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, if there is one."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        found = getattr(import_module(module), attribute)
        return found if isinstance(found, click.Command) else None


@click.command(cls=Commands)
def main() -> None:
    """Card games over HTTP, with a log that nobody can quietly rewrite."""
