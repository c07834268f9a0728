"""Jokers Go Boom, version 1: shed your cards; a joker makes the others draw.

The rules are numbered G1 to G17; the texts say them in full.
"""

from service.rules.jokers_go_boom.codec import (
    encode,
    read_move,
    read_options,
    write_move,
    write_options,
)
from service.rules.jokers_go_boom.legal import absent_move, legal_moves
from service.rules.jokers_go_boom.options import SEATS, Options, complete, pack_for, rounds
from service.rules.jokers_go_boom.play import apply, reveals, settle
from service.rules.jokers_go_boom.scoring import round_result
from service.rules.jokers_go_boom.state import (
    deal,
    facts,
    first,
    first_dealer,
    laid,
    restock,
    stock,
    to_act,
)
from service.rules.jokers_go_boom.steady import steady
from service.rules.jokers_go_boom.texts import MESSAGES, TEXTS
from service.rules.jokers_go_boom.view import learned, view
from service.rules.ruleset import Ruleset
from service.rules.scoring import fewest_points_win

RULESET = Ruleset(
    name="jokers-go-boom",
    version="1",
    title="Jokers Go Boom",
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
