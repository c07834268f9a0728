"""The schema keeps to the rules of a distributed Postgres, and the guide names every table."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg
import pytest

from service.store.appends import append_statement, create_statement

GUIDE = Path(__file__).parents[2] / "docs" / "distributing.md"
ROW = re.compile(
    r"^\| (`[a-z_`, ]+`) \| (?:distributed by `([a-z_]+)`|on the coordinator)", re.MULTILINE
)

KEYS = """
SELECT ind.indexrelid::regclass::text, rel.relname, array_agg(att.attname ORDER BY part.place)
FROM pg_index ind
JOIN pg_class rel ON rel.oid = ind.indrelid AND rel.relnamespace = 'public'::regnamespace
CROSS JOIN unnest(ind.indkey) WITH ORDINALITY AS part (number, place)
JOIN pg_attribute att ON att.attrelid = rel.oid AND att.attnum = part.number
WHERE ind.indisunique
GROUP BY ind.indexrelid, rel.relname
"""

FOREIGN = """
SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint WHERE contype = 'f'
"""

DEFAULTS = """
SELECT rel.relname, pg_get_expr(def.adbin, def.adrelid)
FROM pg_attrdef def JOIN pg_class rel ON rel.oid = def.adrelid
WHERE rel.relnamespace = 'public'::regnamespace
"""


@pytest.fixture(scope="module")
def placed() -> Mapping[str, str | None]:
    """By table, the column that it is distributed by; None for what stays on the coordinator."""
    return dict(rows_of_the_guide())


def rows_of_the_guide() -> Iterator[tuple[str, str | None]]:
    for names, column in ROW.findall(GUIDE.read_text()):
        for name in re.findall("[a-z_]+", names):
            yield name, column or None


def test_the_guide_names_every_table_once(
    owner: psycopg.Connection, placed: Mapping[str, str | None]
) -> None:
    query = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    tables = {name for (name,) in owner.execute(query)} - {"alembic_version"}
    named = [name for name, _ in rows_of_the_guide()]
    assert sorted(named) == sorted(tables)
    assert placed["events"] == placed["game_secrets"] == "game_id"
    assert placed["games"] == "id"


def test_every_key_of_a_distributed_table_begins_with_its_column(
    owner: psycopg.Connection, placed: Mapping[str, str | None]
) -> None:
    keys = [
        (index, placed[table], columns[0])
        for index, table, columns in owner.execute(KEYS)
        if placed.get(table)
    ]
    assert len(keys) >= len([column for column in placed.values() if column])
    assert [key for key in keys if key[1] != key[2]] == []


def test_no_foreign_key_leads_to_or_from_a_distributed_table(
    owner: psycopg.Connection, placed: Mapping[str, str | None]
) -> None:
    found = owner.execute(FOREIGN).fetchall()
    assert found
    assert [pair for pair in found if placed[pair[0]] or placed[pair[1]]] == []


def test_what_a_move_writes_asks_no_volatile_function(owner: psycopg.Connection) -> None:
    called = set(re.findall(r"\b([a-z_]+)\s*\(", append_statement(2) + create_statement(2)))
    query = "SELECT DISTINCT proname FROM pg_proc WHERE provolatile = 'v' AND proname = ANY(%s)"
    assert owner.execute(query, [sorted(called)]).fetchall() == []
    assert "count" in called


def test_no_distributed_table_makes_up_a_value_by_itself(
    owner: psycopg.Connection, placed: Mapping[str, str | None]
) -> None:
    """A default that is drawn anew on each machine, or a sequence, would differ between them."""
    made_up = [
        (table, default)
        for table, default in owner.execute(DEFAULTS)
        if placed.get(table) and "(" in default
    ]
    assert made_up == []
