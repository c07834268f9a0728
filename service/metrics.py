"""What the service measures of itself, by Prometheus' names; no label holds what a player chose.

Each process writes into files of its own where `PROMETHEUS_MULTIPROC_DIR`
says, and who serves the metrics adds them up: `fairdeal serve`, on a port of
its own.
"""

from prometheus_client import Counter, Gauge, Histogram

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

REQUESTS = Counter(
    "fairdeal_requests_total", "Requests, by operation and status.", ("operation", "status")
)
REQUEST_SECONDS = Histogram(
    "fairdeal_request_duration_seconds",
    "Time to the first byte of an answer, by operation.",
    ("operation",),
    buckets=BUCKETS,
)
PROBLEMS = Counter("fairdeal_problems_total", "Answers that were problems, by code.", ("code",))
STREAMS = Gauge("fairdeal_streams", "Streams that are open now.", multiprocess_mode="livesum")
DELIVERIES = Counter(
    "fairdeal_webhook_deliveries_total", "Attempts to deliver to a webhook.", ("outcome",)
)
NOTICES = Counter("fairdeal_notices_total", "Notices that players were sent.")
CHECKPOINTED = Gauge(
    "fairdeal_checkpoint_timestamp_seconds",
    "When the tree was last looked at, and signed if it had grown.",
    multiprocess_mode="mostrecent",
)
WORKER_ALIVE = Gauge(
    "fairdeal_worker_timestamp_seconds",
    "When a worker last said that it lives.",
    multiprocess_mode="mostrecent",
)
