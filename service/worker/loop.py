"""The worker's loop: sweep, sign, rest, until it is told to stop."""

import time
from dataclasses import dataclass, field

import structlog

from service.play.checkpointing import Checkpointer, Inconsistent
from service.play.services import Services
from service.store.database import StoreUnavailable
from service.store.published import NotPublished
from service.store.tickets import drop_stale_tickets
from service.worker.bots import sweep
from service.worker.clocks import close_games, tick
from service.worker.stop import Stop

BUSY_SECONDS = 0.05
IDLE_SECONDS = 0.25
TROUBLE_SECONDS = 1.0


@dataclass
class Worker:
    """What goes on when nobody is asking: bots play on, checkpoints are signed."""

    services: Services
    checkpointer: Checkpointer
    checkpoint_seconds: float
    _next_checkpoint: float = field(default=0.0, init=False)

    def run(self, stop: Stop) -> None:
        """Work until stopped; a database that is away is waited for."""
        while not stop.is_set():
            stop.wait(self.work())

    def work(self) -> float:
        """Do once what there is to do; how long to rest then, in seconds."""
        try:
            is_busy = tick(self.services) > 0
            self._checkpoint()
            return BUSY_SECONDS if sweep(self.services) or is_busy else IDLE_SECONDS
        except StoreUnavailable:
            structlog.get_logger().warning("store_unavailable")
            return TROUBLE_SECONDS

    def _checkpoint(self) -> None:
        """Sign a checkpoint if it is time; games go on where none can be signed."""
        if time.monotonic() < self._next_checkpoint:
            return
        self._next_checkpoint = time.monotonic() + self.checkpoint_seconds
        close_games(self.services)
        drop_stale_tickets(self.services.database, self.services.now())
        try:
            self.checkpointer.run()
        except (Inconsistent, NotPublished) as refusal:
            structlog.get_logger().error("checkpoint_refused", reason=str(refusal))
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001  the tables may hold anything
            structlog.get_logger().error("checkpoint_failed", exception=type(error).__name__)
