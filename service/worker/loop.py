"""The worker's loop: sweep, sign, rest, until it is told to stop."""

import time
from dataclasses import dataclass, field
from threading import Event, Thread

import structlog

from service.metrics import CHECKPOINTED, NOTICES, WORKER_ALIVE
from service.play.checkpointing import Checkpointer, Inconsistent
from service.play.clocks import is_clock_right
from service.play.looking import LOOKS_KEPT, disclose_reads
from service.play.mailbox import NOTICES_KEPT
from service.play.noticing import Dispatcher
from service.play.refereeing import ATTEMPTS_KEPT
from service.play.services import Services
from service.play.webhooks import DELIVERIES_KEPT
from service.store.attempts import drop_old_attempts
from service.store.database import StoreUnavailable
from service.store.looks import drop_old_looks, games_to_disclose
from service.store.notices import drop_old_notices
from service.store.presence import drop_stale_presence
from service.store.published import NotPublished
from service.store.tickets import drop_stale_tickets
from service.store.webhooks import drop_old_deliveries
from service.worker.bots import sweep
from service.worker.clocks import close_games, note_alive, tick
from service.worker.courier import Courier
from service.worker.each import each
from service.worker.stop import Stop

BUSY_SECONDS = 0.05
IDLE_SECONDS = 0.25
TROUBLE_SECONDS = 1.0
BEAT_SECONDS = 1.0
GAMES_AT_ONCE = 200


@dataclass
class Worker:
    """What goes on when nobody is asking: bots play on, checkpoints are signed."""

    services: Services
    checkpointer: Checkpointer
    checkpoint_seconds: float
    rung: Event = field(default_factory=Event)
    _next_checkpoint: float = field(default=0.0, init=False)
    _is_clock_right: bool = field(default=True, init=False)

    def run(self, stop: Stop) -> None:
        """Work until stopped; a database that is away is waited for."""
        others = [
            Thread(target=work, args=(stop,), name=name, daemon=True)
            for name, work in (
                ("heartbeat", self._beat),
                ("notices", self._tell),
                ("courier", self._deliver),
            )
        ]
        for thread in others:
            thread.start()
        while not stop.is_set():
            stop.wait(self.work())
        for thread in others:
            thread.join(BEAT_SECONDS * 2)

    def _tell(self, stop: Stop) -> None:
        """Tell players what happened, as soon as the bell is rung and every moment anyway."""
        dispatcher = Dispatcher(self.services)
        while not stop.is_set():
            self.rung.clear()
            try:
                told = dispatcher.run()
                NOTICES.inc(told)
                if told == 0:
                    self.rung.wait(IDLE_SECONDS)
            except Exception as error:  # noqa: BLE001  the next time may go well
                structlog.get_logger().warning("notices_failed", reason=type(error).__name__)
                stop.wait(TROUBLE_SECONDS)

    def _beat(self, stop: Stop) -> None:
        """Say every second that the worker lives, however busy it is."""
        while not stop.is_set():
            try:
                note_alive(self.services)
                WORKER_ALIVE.set_to_current_time()
            except Exception as error:  # noqa: BLE001  the next beat may come through
                structlog.get_logger().warning("heartbeat_failed", reason=type(error).__name__)
            stop.wait(BEAT_SECONDS)

    def _deliver(self, stop: Stop) -> None:
        """Deliver to webhooks what is due."""
        courier = Courier(self.services)
        while not stop.is_set():
            try:
                if courier.run() == 0:
                    stop.wait(IDLE_SECONDS)
            except Exception as error:  # noqa: BLE001  the next time may go well
                structlog.get_logger().warning("courier_failed", reason=type(error).__name__)
                stop.wait(TROUBLE_SECONDS)
        courier.finish(BEAT_SECONDS)

    def work(self) -> float:
        """Do once what there is to do; how long to rest then, in seconds."""
        try:
            is_busy = self._tick() > 0
            self._checkpoint()
            return BUSY_SECONDS if sweep(self.services) or is_busy else IDLE_SECONDS
        except StoreUnavailable:
            structlog.get_logger().warning("store_unavailable")
            return TROUBLE_SECONDS
        except Exception as error:  # noqa: BLE001  a worker that ends takes the service with it
            structlog.get_logger().error("worker_failed", exception=type(error).__name__)
            return TROUBLE_SECONDS

    def _tick(self) -> int:
        """Play for who is away, as long as this machine can tell the time."""
        was_right, self._is_clock_right = self._is_clock_right, is_clock_right(self.services)
        if was_right != self._is_clock_right:
            structlog.get_logger().error("clock_differs", is_right=self._is_clock_right)
        return tick(self.services) if self._is_clock_right else 0

    def _checkpoint(self) -> None:
        """Sign a checkpoint if it is time; games go on where none can be signed."""
        if time.monotonic() < self._next_checkpoint:
            return
        self._next_checkpoint = time.monotonic() + self.checkpoint_seconds
        try:
            self.checkpointer.run()
            CHECKPOINTED.set_to_current_time()
        except (Inconsistent, NotPublished) as refusal:
            structlog.get_logger().error("checkpoint_refused", reason=str(refusal))
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001  the tables may hold anything
            structlog.get_logger().error("checkpoint_failed", exception=type(error).__name__)
        finally:
            if self._is_clock_right:
                self._tidy()

    def _disclose(self) -> None:
        """Tell the players of ended games which admins looked at their hands."""
        untold = games_to_disclose(self.services.database, GAMES_AT_ONCE)
        each(self.services, untold, disclose_reads, "undisclosed")

    def _tidy(self) -> None:
        """Close what nobody joined, and take away what is too old; each by itself."""
        database, now = self.services.database, self.services.now()
        for work in (
            lambda: close_games(self.services),
            lambda: drop_stale_tickets(database, now),
            lambda: drop_stale_presence(database, now),
            lambda: drop_old_notices(database, now - NOTICES_KEPT),
            lambda: drop_old_deliveries(database, now - DELIVERIES_KEPT),
            lambda: drop_old_attempts(database, now - ATTEMPTS_KEPT),
            lambda: drop_old_looks(database, now - LOOKS_KEPT),
            self._disclose,
        ):
            try:
                work()
            except Exception as error:  # noqa: BLE001  the next time may go well
                structlog.get_logger().warning("tidying_failed", reason=type(error).__name__)
