"""Players and the keys that they call with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from service.play.caller import SCOPES, Caller
from service.play.idempotency import shown_once
from service.play.ids import is_id
from service.play.refusals import (
    FieldError,
    InvalidBody,
    KeyNotFound,
    TooManyKeys,
    Unauthenticated,
)
from service.play.services import Services
from service.play.tokens import digest, is_well_formed, make_token
from service.store import players
from service.store.appends import RequestKey
from service.store.players import ApiKey, Player

LIVE_KEYS_AT_MOST = 50


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key and its token, which is shown this once."""

    key: ApiKey
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRequest:
    """What a player asks of a new key; `expires_at` None for one that does not expire."""

    label: str = ""
    scopes: Sequence[str] = SCOPES
    expires_at: datetime | None = None


def register(services: Services, name: str, kind: str) -> tuple[Player, NewKey]:
    """A new player, with a first key that may do everything."""
    player = Player(id=services.new_id(), name=name, kind=kind, created_at=services.now())
    made = _make_key(services, player.id, KeyRequest(label="first key"))
    players.add_player(services.database, player, made.key, digest(made.token))
    return player, made


def authenticate(services: Services, token: str) -> Caller:
    """Whose token it is; raises Unauthenticated."""
    now, hashed = services.now(), digest(token)

    def look_up() -> ApiKey | None:
        if not is_well_formed(token):
            return None
        return players.find_key(services.database, hashed, now)

    key = services.keys.find(hashed, now, look_up)
    if key is None:
        raise Unauthenticated
    return Caller(key.player_id, key.id, frozenset(key.scopes))


def find_player(services: Services, player: str) -> Player:
    """The caller's own account."""
    found = players.find_player(services.database, player)
    if found is None:
        raise Unauthenticated
    return found


def kind_of(services: Services, player: str) -> str:
    """Whether a person plays by the account, or a program."""
    return find_player(services, player).kind


def add_key(
    services: Services,
    caller: Caller,
    read: Callable[[], KeyRequest],
    request: RequestKey | None,
) -> NewKey:
    """Another key for the caller, with no scope that the calling key lacks.

    A replayed request is refused: the token was shown, and is kept nowhere.
    """
    with shown_once(services, request):
        return _add_key(services, caller, read, request)


def _add_key(
    services: Services,
    caller: Caller,
    read: Callable[[], KeyRequest],
    request: RequestKey | None,
) -> NewKey:
    wanted = read()
    if wanted.expires_at is not None and wanted.expires_at <= services.now():
        raise InvalidBody([FieldError("/expires_at", "It lies in the past.")])
    for scope in wanted.scopes:
        caller.require(scope)
    live = players.count_live_keys(services.database, caller.player, services.now())
    if live >= LIVE_KEYS_AT_MOST:
        raise TooManyKeys(limit=LIVE_KEYS_AT_MOST)
    made = _make_key(services, caller.player, wanted)
    players.add_key(services.database, made.key, digest(made.token), request)
    return made


def list_keys(
    services: Services, caller: Caller, before: str | None, limit: int
) -> Sequence[ApiKey]:
    """The caller's keys, newest first."""
    return players.list_keys(services.database, caller.player, before, limit)


def revoke_key(services: Services, caller: Caller, key: str) -> None:
    """Revoke one of the caller's keys, for good; doing it twice is no fault."""
    now = services.now()
    if not is_id(key) or not players.revoke_key(services.database, caller.player, key, now):
        raise KeyNotFound
    services.keys.forget(key)


def _make_key(services: Services, player: str, wanted: KeyRequest) -> NewKey:
    key = ApiKey(
        id=services.new_id(),
        player_id=player,
        label=wanted.label,
        scopes=list(wanted.scopes),
        created_at=services.now(),
        expires_at=wanted.expires_at,
    )
    return NewKey(key, make_token(services.draw_token()))
