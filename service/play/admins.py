"""Admins: who they are by a key, and the trail of all that they do."""

from collections.abc import Collection
from dataclasses import dataclass

from service.canonical import JsonMap
from service.play.refusals import ConflictOfInterest, InsufficientScope, Unauthenticated
from service.play.services import Services, timestamp
from service.play.tokens import ADMIN_PREFIX, digest, is_well_formed
from service.store.admins import find_admin_key
from service.store.audit import add_line

ADMIN_READ = "admin.read"
ADMIN_HIDDEN = "admin.hidden"
ADMIN_RULE = "admin.rule"
ADMIN_PLAYERS = "admin.players"
ADMIN_AUDIT = "admin.audit"
ADMIN_SCOPES = (ADMIN_READ, ADMIN_HIDDEN, ADMIN_RULE, ADMIN_PLAYERS, ADMIN_AUDIT)
"""What an admin's key may do: look, see hands, rule, see to players, read the trail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admin:
    """An admin, by one of their keys; `players` are their own accounts."""

    id: str
    name: str
    scopes: frozenset[str]
    players: frozenset[str]

    def require(self, scope: str) -> None:
        """Raise InsufficientScope unless the key has the scope."""
        if scope not in self.scopes:
            raise InsufficientScope(scope=scope)

    def refuse_own(self, players: Collection[str]) -> None:
        """Raise ConflictOfInterest if the admin is one of those players."""
        if self.players & set(players):
            raise ConflictOfInterest


def authenticate_admin(services: Services, token: str) -> Admin:
    """Whose token it is; raises Unauthenticated. Asked of the database each time."""
    key = None
    if is_well_formed(token, ADMIN_PREFIX):
        key = find_admin_key(services.database, digest(token), services.now())
    if key is None:
        raise Unauthenticated
    return Admin(
        id=key.id,
        name=key.name,
        scopes=frozenset(key.scopes),
        players=frozenset(key.players),
    )


def line_of(services: Services, admin: str, action: str, facts: JsonMap) -> JsonMap:
    """What the trail says of something that is done: by which admin, by their id."""
    return {
        "at": timestamp(services.now()),
        "admin": admin,
        "action": action,
        "facts": facts,
    }


def note_action(services: Services, admin: Admin, action: str, facts: JsonMap) -> None:
    """Write it into the trail before it is done; raises StoreUnavailable."""
    add_line(services.database, line_of(services, admin.id, action, facts))
