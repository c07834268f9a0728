"""The command `fairdeal`."""

from service.cli.group import main

__all__ = ["main"]
