"""The command `fairdeal`."""

from service.cli.commands import main

__all__ = ["main"]
