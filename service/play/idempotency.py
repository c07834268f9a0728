"""Retries: the same key and body again get the original answer."""

import hashlib

from service.canonical import JsonMap, canonical_bytes
from service.play.refusals import KeyReused
from service.store.appends import RequestKey


def request_key(player: str, route: str, key: str, body: JsonMap) -> RequestKey:
    """The key in its scope, with the fingerprint of the body."""
    fingerprint = hashlib.sha256(canonical_bytes(body)).digest()
    return RequestKey(player=player, route=route, key=key, fingerprint=fingerprint)


def refuse_other_body(request: RequestKey, bound: bytes) -> None:
    """Raise KeyReused if the key was bound by a request with another body."""
    if request.fingerprint != bound:
        raise KeyReused
