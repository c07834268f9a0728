"""What gunicorn is told beside its command line: `--config python:service.web_processes`."""

import os
from typing import Any

from prometheus_client import multiprocess


def child_exit(_server: Any, worker: Any) -> None:  # noqa: ANN401  gunicorn's own
    """A web process has ended: what it measured of the moment counts no more."""
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
