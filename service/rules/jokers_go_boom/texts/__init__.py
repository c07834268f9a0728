"""The rules by number, written for people who play, in each language."""

from collections.abc import Mapping
from types import MappingProxyType

from service.rules.jokers_go_boom.texts import en, hy, lv

TEXTS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"en": en.RULES, "lv": lv.RULES, "hy": hy.RULES}
)

MESSAGES: Mapping[str, Mapping[str, str]] = MappingProxyType({"lv": lv.MESSAGES, "hy": hy.MESSAGES})
"""What refusals say, by the English template that they are raised with."""
