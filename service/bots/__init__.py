"""Bots: they choose a move from a view, and see nothing else."""

from service.bots.levels import LEVELS, choose

__all__ = ["LEVELS", "choose"]
