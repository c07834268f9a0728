import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from service.canonical import (
    LARGEST_INTEGER,
    canonical_bytes,
    dump_json,
    is_canonical,
    load_json,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
KEYS = st.text(st.characters(max_codepoint=127, exclude_characters="\0"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-LARGEST_INTEGER, LARGEST_INTEGER) | TEXTS,
    lambda nested: st.lists(nested) | st.dictionaries(KEYS, nested),
)


@given(st.dictionaries(KEYS, VALUES))
def test_the_canonical_bytes_are_those_of_an_independent_rfc_8785(value: dict) -> None:
    assert is_canonical(value)
    assert canonical_bytes(value) == rfc8785.dumps(value)


def test_what_json_libraries_write_differently_is_no_value_to_hash() -> None:
    for value in (
        1.5,
        2**53,
        "\ud800",
        "a\0b",
        {"ņ": 1},
        {1: 2},
        [0.0],
        object(),
        {"a": {"\0": 1}},
    ):
        assert not is_canonical(value)
    assert is_canonical({"a": [True, None, -(2**53) + 1, "ņ"], "b": ()})


def test_an_answer_keeps_the_order_of_its_members() -> None:
    text = dump_json({"b": 1, "a": ["ņ", None]})
    assert text == '{"b":1,"a":["ņ",null]}'
    assert load_json(text) == {"a": ["ņ", None], "b": 1}
