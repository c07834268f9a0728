"""The worker's loop: sweep, rest, until it is told to stop."""

import structlog

from service.play.services import Services
from service.store.database import StoreUnavailable
from service.worker.bots import sweep
from service.worker.stop import Stop

BUSY_SECONDS = 0.05
IDLE_SECONDS = 0.25
TROUBLE_SECONDS = 1.0


def run_worker(services: Services, stop: Stop) -> None:
    """Sweep until stopped; a database that is away is waited for."""
    while not stop.is_set():
        stop.wait(_rest_after_sweep(services))


def _rest_after_sweep(services: Services) -> float:
    try:
        return BUSY_SECONDS if sweep(services) else IDLE_SECONDS
    except StoreUnavailable:
        structlog.get_logger().warning("store_unavailable")
        return TROUBLE_SECONDS
