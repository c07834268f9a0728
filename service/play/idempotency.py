"""Retries: the same key and body again get the original answer."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from service.canonical import JsonMap, canonical_bytes
from service.play.refusals import KeyReused, SecretAlreadyShown
from service.play.services import Services
from service.store.appends import KeyBound, RequestKey
from service.store.players import Creation, find_creation


def request_key(player: str, route: str, key: str, body: JsonMap) -> RequestKey:
    """The key in its scope, with the fingerprint of the body."""
    fingerprint = hashlib.sha256(canonical_bytes(body)).digest()
    return RequestKey(player=player, route=route, key=key, fingerprint=fingerprint)


def refuse_other_body(request: RequestKey, bound: bytes) -> None:
    """Raise KeyReused if the key was bound by a request with another body."""
    if request.fingerprint != bound:
        raise KeyReused


def within_game(request: RequestKey | None, game: str) -> RequestKey | None:
    """The request's key in the scope of the game."""
    return None if request is None else replace(request, route=f"{request.route} {game}")


@contextmanager
def shown_once(services: Services, request: RequestKey | None) -> Iterator[None]:
    """What is made here shows a secret: a replay of the request is refused, before or just now."""
    _refuse_replay(services, request)
    try:
        yield
    except KeyBound:
        _refuse_replay(services, request)
        raise


def made_before(services: Services, request: RequestKey | None) -> Creation | None:
    """What the same request made before; raises KeyReused if it had another body."""
    made = None if request is None else find_creation(services.database, request)
    if request is not None and made is not None:
        refuse_other_body(request, made.fingerprint)
    return made


def _refuse_replay(services: Services, request: RequestKey | None) -> None:
    """Refuse to show again what a request made: a secret that is shown once, and kept nowhere."""
    made = made_before(services, request)
    if made is not None:
        raise SecretAlreadyShown({"id": made.resource_id})
