"""The rules by number, written for people who play, in each language."""

from collections.abc import Mapping
from types import MappingProxyType

from service.rules.crazy_rummy.texts import en

TEXTS: Mapping[str, Mapping[str, str]] = MappingProxyType({"en": en.RULES})
