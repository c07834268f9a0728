"""A client for Fairdeal: what it sends it may send again, and what it follows it resumes."""

from fairdeal_client.client import Fairdeal, Retrying
from fairdeal_client.problems import (
    Conflict,
    Forbidden,
    IllegalMove,
    Invalid,
    NotFound,
    NotYourTurn,
    Problem,
    TooManyRequests,
    Unauthenticated,
    VersionConflict,
)

__all__ = [
    "Conflict",
    "Fairdeal",
    "Forbidden",
    "IllegalMove",
    "Invalid",
    "NotFound",
    "NotYourTurn",
    "Problem",
    "Retrying",
    "TooManyRequests",
    "Unauthenticated",
    "VersionConflict",
]
