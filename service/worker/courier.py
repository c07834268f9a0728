"""The courier: takes from the outbox what is due, delivers it, and comes back if it must."""

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock

import structlog

from service.metrics import DELIVERIES
from service.play.services import Services
from service.play.webhooks import LEASE, signatures
from service.store import webhooks as store
from service.store.webhooks import Claimed, Wanted
from service.worker.posting import Posted, Undeliverable, post

THREADS = 8
EACH_AT_ONCE = 2
OF_A_PLAYER_AT_ONCE = 4
"""Deliveries to one webhook, and to all of a player's: who is slow keeps nobody else waiting."""

DELAYS = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400)
)
"""After each failed attempt, how long until the next; over three days in all."""

JITTER = 0.2
PATIENCE = timedelta(days=5)
"""A webhook that fails for so long is disabled."""

GONE = 410
SUCCESS = range(200, 300)

Post = Callable[..., Posted]


@dataclass
class Courier:
    """Delivers to webhooks. Any number may run: each delivery is leased to one of them."""

    services: Services
    post: Post = post
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(THREADS, thread_name_prefix="courier"),
        init=False,
    )
    _under_way: Counter[str] = field(default_factory=Counter, init=False)
    _players: Counter[str] = field(default_factory=Counter, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def run(self) -> int:
        """Begin to deliver what is due, as far as hands are free; how many were begun."""
        with self._lock:
            wanted = Wanted(
                lease=LEASE,
                limit=THREADS - self._under_way.total(),
                each=EACH_AT_ONCE,
                each_player=OF_A_PLAYER_AT_ONCE,
                busy=[hook for hook, count in self._under_way.items() if count >= EACH_AT_ONCE],
                busy_players=[who for who, n in self._players.items() if n >= OF_A_PLAYER_AT_ONCE],
            )
        if wanted.limit <= 0:
            return 0
        claimed = store.claim_deliveries(self.services.database, self.services.now(), wanted)
        for one in claimed:
            with self._lock:
                self._under_way[one.webhook] += 1
                self._players[one.player] += 1
            self._pool.submit(self._deliver, one)
        return len(claimed)

    def finish(self, seconds: float) -> None:
        """Wait for what is under way, so long at most."""
        until = time.monotonic() + seconds
        while self._under_way.total() and time.monotonic() < until:
            time.sleep(0.01)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _deliver(self, claimed: Claimed) -> None:
        try:
            self._attempt(claimed)
        except Exception as error:  # noqa: BLE001  the lease ends, and somebody tries again
            structlog.get_logger().warning("delivery_lost", reason=type(error).__name__)
        finally:
            with self._lock:
                self._under_way -= Counter([claimed.webhook])
                self._players -= Counter([claimed.player])

    def _attempt(self, claimed: Claimed) -> None:
        database, error = self.services.database, None
        posted: Posted | None = None
        try:
            posted = self._posted(claimed)
        except Undeliverable as undelivered:
            error = str(undelivered)
        answer, now = None if posted is None else posted.status, self.services.now()
        if answer in SUCCESS:
            DELIVERIES.labels("delivered").inc()
            store.settle(database, claimed, "delivered", now, answer, error)
            store.note_success(database, claimed.webhook)
            return
        DELIVERIES.labels("refused" if answer else "unanswered").inc()
        if claimed.attempt > len(DELAYS):
            store.settle(database, claimed, "failed", now, answer, error)
        else:
            wait = self._wait(claimed.attempt, posted.retry_after if posted else 0)
            store.note_retry(database, claimed, now + wait, answer, error)
        if answer == GONE:
            store.disable_webhook(database, claimed.webhook, now, "gone")
        elif store.note_failure(database, claimed.webhook, now, PATIENCE):
            structlog.get_logger().warning("webhook_disabled", webhook=claimed.webhook)

    def _posted(self, claimed: Claimed) -> Posted:
        if not claimed.secrets:
            message = "Its secret can't be read here: change it."
            raise Undeliverable(message)
        return self.post(
            claimed.url,
            claimed.payload.encode(),
            headers_of(claimed, int(self.services.now().timestamp())),
            allows_any=self.services.allows_any_address,
        )

    def _wait(self, attempt: int, asked: int) -> timedelta:
        spread = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311  no secret
        return max(DELAYS[attempt - 1] * spread, timedelta(seconds=asked))


def headers_of(claimed: Claimed, seconds: int) -> Mapping[str, str]:
    """The headers of a delivery that is sent at that time."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "Fairdeal-Webhooks/1",
        "webhook-id": claimed.id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": signatures(claimed.secrets, claimed.id, seconds, claimed.payload),
    }
