"""How often somebody may ask: a bucket for each policy and caller, in the process's memory.

The generic cell rate algorithm: all that is kept of a bucket is when it will
be full again. A process counts for itself; several allow as many times as much.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType

from service.play.bounded import Bounded
from service.play.refusals import TooManyRequests

BUCKETS_KEPT = 100_000
ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Policy:
    """So many requests in so many seconds, all at once if need be."""

    name: str
    quota: int
    seconds: int

    @property
    def header(self) -> str:
        """The policy as the RateLimit-Policy header says it."""
        return f'"{self.name}";q={self.quota};w={self.seconds}'


MOVES = "moves"
READS = "reads"
WRITES = "writes"
CREATION = "creation"
STREAMS = "streams"
FAILED_AUTHENTICATION = "failed-authentication"

POLICIES: Mapping[str, Policy] = MappingProxyType(
    {
        policy.name: policy
        for policy in (
            Policy(MOVES, 1_200, 60),
            Policy(READS, 3_000, 60),
            Policy(WRITES, 600, 60),
            Policy(CREATION, 120, 60),
            Policy(STREAMS, 120, 60),
            Policy(FAILED_AUTHENTICATION, 30, 60),
        )
    }
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is left to a caller under a policy, and in how many seconds it will be all of it."""

    policy: Policy
    remaining: int
    reset: int

    @property
    def header(self) -> str:
        """The standing as the RateLimit header says it."""
        return f'"{self.policy.name}";r={self.remaining};t={self.reset}'


class Limiter:
    """The buckets of a process; `now` gives seconds that only ever grow."""

    def __init__(self, now: Callable[[], float], policies: Mapping[str, Policy] = POLICIES) -> None:
        self._now = now
        self._policies = policies
        self._full_at: Bounded[tuple[str, str], float] = Bounded(BUCKETS_KEPT)
        self._lock = Lock()

    def refuse_if_empty(self, name: str, who: str) -> None:
        """Count nothing; raises TooManyRequests if nothing is left to them."""
        self._full_after(self._policies[name], who, self._now())

    def take(self, name: str, who: str) -> Standing:
        """Count one request of theirs; raises TooManyRequests."""
        policy, now = self._policies[name], self._now()
        with self._lock:
            full_at = self._full_after(policy, who, now)
            self._full_at.put((name, who), full_at)
        wait = full_at - now
        each = policy.seconds / policy.quota
        return Standing(
            policy, int((policy.seconds - wait) / each + ROUNDING), math.ceil(wait - ROUNDING)
        )

    def _full_after(self, policy: Policy, who: str, now: float) -> float:
        """When the bucket would be full again after one request more; raises TooManyRequests."""
        known = self._full_at.get((policy.name, who)) or now
        full_at = max(known, now) + policy.seconds / policy.quota
        late = full_at - now - policy.seconds
        if late > ROUNDING:
            raise TooManyRequests(policy.name, math.ceil(late))
        return full_at
