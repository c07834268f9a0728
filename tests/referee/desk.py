"""What the tests of the referee's desk share: an admin's key, and calls with it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from conftest import fresh_key
from flask.testing import FlaskClient
from sqlalchemy import Engine

from service.play.admins import ADMIN_SCOPES
from service.play.services import new_ulid, utc_now
from service.play.tokens import ADMIN_PREFIX, digest, make_token
from service.store.admins import AdminKey, add_admin_key, owner_engine
from service.store.embedded import Urls

WHY = "A player says that the deck was stacked."


@dataclass(frozen=True)
class Referee:
    """An admin with a key, and a client to call with."""

    id: str
    token: str
    client: FlaskClient

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        sent = {} if body is None else {"json": body}
        own = {"Authorization": f"Bearer {self.token}", **headers}
        return self.client.open(f"/admin{path}", method=method, headers=own, **sent)

    def rule(self, dispute: str, *remedies: Any, **body: Any) -> Any:
        asked = {
            "outcome": "upheld",
            "remedies": list(remedies),
            "public_reason": "So it is.",
            **body,
        }
        return self.call("POST", f"/disputes/{dispute}/rulings", asked, **fresh_key())


def engines(urls: Urls) -> Iterator[Engine]:
    engine = owner_engine(urls.owner)
    yield engine
    engine.dispose()


def referee(
    engine: Engine,
    client: FlaskClient,
    scopes: Sequence[str] = ADMIN_SCOPES,
    players: Sequence[str] = (),
    name: str = "Referee",
) -> Referee:
    token = make_token(new_ulid().encode() + b"123456", ADMIN_PREFIX)
    key = AdminKey(id=new_ulid(), name=name, scopes=scopes, players=players, created_at=utc_now())
    add_admin_key(engine, key, digest(token))
    return Referee(key.id, token, client)
