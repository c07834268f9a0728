"""Crazy Rummy, version 1: thirteen rounds, and in each another rank is wild.

The rules are numbered C1 to C22; the texts say them in full.
"""

from service.rules.crazy_rummy.codec import (
    encode,
    read_move,
    read_options,
    write_move,
    write_options,
)
from service.rules.crazy_rummy.legal import absent_move, legal_moves
from service.rules.crazy_rummy.options import SEATS, Options, complete, pack_for, rounds
from service.rules.crazy_rummy.play import apply, reveals
from service.rules.crazy_rummy.scoring import round_result
from service.rules.crazy_rummy.settling import settle
from service.rules.crazy_rummy.state import (
    deal,
    facts,
    first,
    first_dealer,
    laid,
    restock,
    stock,
    to_act,
)
from service.rules.crazy_rummy.steady import steady
from service.rules.crazy_rummy.texts import MESSAGES, TEXTS
from service.rules.crazy_rummy.view import learned, view
from service.rules.ruleset import Ruleset
from service.rules.scoring import fewest_points_win

RULESET = Ruleset(
    name="crazy-rummy",
    version="1",
    title="Crazy Rummy",
    seats=SEATS,
    options=Options,
    complete=complete,
    pack=pack_for,
    rounds=rounds,
    first_dealer=first_dealer,
    deal=deal,
    first=first,
    facts=facts,
    to_act=to_act,
    legal_moves=legal_moves,
    reveals=reveals,
    settle=settle,
    apply=apply,
    learned=learned,
    view=view,
    round_result=round_result,
    stock=stock,
    laid=laid,
    restock=restock,
    standings=fewest_points_win,
    absent_move=absent_move,
    steady=steady,
    encode=encode,
    read_move=read_move,
    write_move=write_move,
    read_options=read_options,
    write_options=write_options,
    texts=TEXTS,
    messages=MESSAGES,
)

RULESETS = (RULESET,)
"""Every version that games were ever played by, the oldest first."""
