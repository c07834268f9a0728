import signal
import time

from service.worker.stop import Stop


def test_waiting_ends_when_somebody_asks() -> None:
    stop = Stop()
    assert not stop.wait(0.01)
    before = signal.signal(signal.SIGALRM, stop.set)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    began = time.monotonic()
    assert stop.wait(30)
    signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 10
    stop.set()
    assert stop.is_set()
    assert stop.wait(30)
