from datetime import UTC, datetime, timedelta, timezone

from service.play.bounded import Bounded
from service.play.caller import KEY_SECONDS, KeyMemory
from service.play.services import timestamp
from service.store.players import ApiKey

NOW = datetime(2026, 12, 1, 10, 15, 30, 123_999, tzinfo=UTC)


def test_the_least_recently_used_makes_room() -> None:
    memory: Bounded[str, int] = Bounded(2)
    memory.put("a", 1)
    memory.put("b", 2)
    assert memory.get("a") == 1
    memory.put("c", 3)
    assert (memory.get("a"), memory.get("b"), memory.get("c")) == (1, None, 3)
    memory.drop("a")
    memory.drop("a")
    assert memory.items() == [("c", 3)]
    assert len(memory) == 1


def a_key(**changed: object) -> ApiKey:
    return ApiKey(
        **{"id": "k", "player_id": "p", "label": "", "scopes": [], "created_at": NOW, **changed}
    )


def test_a_key_is_remembered_for_a_moment() -> None:
    memory, looked_up = KeyMemory(), []

    def look_up() -> ApiKey:
        looked_up.append(1)
        return a_key()

    later = NOW + timedelta(seconds=KEY_SECONDS)
    for now in (NOW, NOW, later - timedelta(milliseconds=1)):
        assert memory.find(b"d", now, look_up) is not None
    assert len(looked_up) == 1
    memory.find(b"d", later, look_up)
    assert len(looked_up) == 2
    memory.forget("k")
    memory.find(b"d", later, look_up)
    assert len(looked_up) == 3


def test_a_key_that_expires_while_it_is_remembered_is_not_live() -> None:
    memory = KeyMemory()
    ending = a_key(expires_at=NOW + timedelta(seconds=1))
    assert memory.find(b"d", NOW, lambda: ending) is ending
    assert memory.find(b"d", NOW + timedelta(seconds=1), lambda: None) is None


def test_an_unknown_key_is_looked_up_each_time() -> None:
    memory = KeyMemory()
    assert memory.find(b"d", NOW, lambda: None) is None
    assert memory.find(b"d", NOW, a_key) is not None


def test_times_are_utc_with_three_decimals() -> None:
    assert timestamp(NOW) == "2026-12-01T10:15:30.123Z"
    riga = timezone(timedelta(hours=2))
    assert timestamp(NOW.astimezone(riga)) == "2026-12-01T10:15:30.123Z"
    assert timestamp(NOW.replace(microsecond=0)) == "2026-12-01T10:15:30.000Z"
