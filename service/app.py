"""Where everything is put together: settings → services → the WSGI application."""

import atexit
import gc
import logging
import os
import resource
import time
from collections.abc import Callable

import orjson
import structlog
from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from service.api.edge import OPERATIONS, SENDER, register_edge
from service.api.openapi import describe, openapi_yaml
from service.play.limits import Limiter
from service.play.services import Services
from service.settings import Settings, read_settings
from service.store.database import connect
from service.store.key_file import KeyFile
from service.store.replica import Replica
from service.store.secret_box import SecretBox
from service.store.wakeups import Wakeups
from service.telemetry import traced

STREAMS_END_SECONDS = 1.0
COLLECT_AFTER = 10_000
"""Objects made and not freed before the collector looks at the youngest of them."""


def make_services(settings: Settings) -> Services:
    """What the use cases stand on, by the settings; raises NoSigningKeys."""
    if settings.database_url is None:
        message = "DATABASE_URL is not set"
        raise ValueError(message)
    box = SecretBox(settings.secret_key)
    keyring = KeyFile.at(settings.key_file)
    database = connect(
        settings.database_url,
        box,
        keyring,
        pool_size=settings.threads,
        is_pooled=settings.listen_url is not None,
    )
    replica = settings.replica_url and connect(
        settings.replica_url, box, keyring, pool_size=settings.threads
    )
    limiter = Limiter(time.monotonic) if settings.has_rate_limits else None
    return Services(
        database=database,
        replica=Replica(replica) if replica else None,
        origin=settings.origin,
        limiter=limiter,
        allows_any_address=settings.allows_any_address,
        needs_two_persons=settings.needs_two_persons,
    )


def create_app(services: Services) -> Flask:
    """The WSGI application over those services."""
    app = Flask("service.api", static_url_path="/static", static_folder="static")
    register_edge(app, services)
    return app


def wsgi() -> Flask:
    """The application by the environment, as gunicorn calls it in each of its processes."""
    configure_logs()
    settings = read_settings(os.environ)
    services = make_services(settings)
    app = create_app(services)
    if settings.proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=settings.proxies)  # type: ignore[method-assign]
    if settings.has_telemetry:
        app.wsgi_app = traced(app.wsgi_app)  # type: ignore[method-assign]
    wake_each_other(services, settings)
    atexit.register(_end_streams, services, app)
    _allow_streams()
    _spare_the_collector()
    return app


def wake_each_other(
    services: Services, settings: Settings, also: Callable[[], None] = lambda: None
) -> None:
    """Tell the other processes what moves here, and hear from them, until this one ends.

    `also` is called whenever something is heard.
    """
    url = settings.listen_url or settings.database_url or ""
    feed = services.feed

    def tell(name: str, version: int) -> None:
        if not version:  # a player was forgotten
            services.names.drop(name)
        feed.tell(name, version)
        also()

    wakeups = Wakeups(url, feed.followed, tell)
    feed.outlet = wakeups.moved
    wakeups.start()


def _end_streams(services: Services, app: Flask) -> None:
    services.feed.close()
    app.extensions[SENDER].drain(STREAMS_END_SECONDS)


def _allow_streams() -> None:
    """As many descriptors as the system lets us have: each stream holds one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _spare_the_collector() -> None:
    """Leave what was built at the start out of every collection, and collect less often.

    Requests make few cycles, and the memories of a process are bounded.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)


def describe_api() -> str:
    """The text of `openapi.yaml`."""
    return openapi_yaml(describe(OPERATIONS))


def configure_logs() -> None:
    """One JSON line an event, on standard output."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=orjson.dumps),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.BytesLoggerFactory(),
        cache_logger_on_first_use=True,
    )
