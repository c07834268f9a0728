"""Crazy Rummy in English."""

from collections.abc import Mapping
from types import MappingProxyType

RULES: Mapping[str, str] = MappingProxyType(
    {
        "C1": "Three to six can play, with one pack of 52. You may only use cards that you hold.",
        "C2": "Each player is shown a card; the lowest deals first (the ace is low). Players who "
        "tie for the lowest are shown another.",
        "C3": "Everybody gets seven cards, one at a time, starting at the dealer's left; the "
        "player there gets an eighth. The rest is the stock. No card is turned up.",
        "C4": "You play thirteen rounds. In the first the aces are wild, in the second the twos, "
        "and so on to the kings. You may agree to play only the first few.",
        "C5": "The ace is low, then two to ten, jack, queen, and the king on top. Nothing follows "
        "a king.",
        "C6": "A set is three or four cards of one rank, each of another suit.",
        "C7": "A run is three or more cards of one suit in sequence, thirteen at most.",
        "C8": "The player at the dealer's left begins, and does not draw in that first turn. Every "
        "other turn begins with a card from the stock or the top of the discard pile, if there is "
        "one.",
        "C9": "Then you may put down as many melds as you like, in your first turn too.",
        "C10": "A wild card stands for any card that its meld needs, itself included. A meld may "
        "have several wild cards, or nothing else. No two cards of a meld stand for the same card.",
        "C11": "Cards that make a meld as they are printed are read so, unless you say otherwise. "
        "If there is more than one way to read them, say what each wild card stands for. It stands "
        "for that until somebody takes it.",
        "C12": "Once you have put down a meld in this round you may lay cards off on any meld on "
        "the table: the fourth card to a set, a card at either end of a run.",
        "C13": "Once you have put down a meld in this round you may take a wild card from any meld "
        "by putting the very card it stands for in its place. A wild card that stands for itself "
        "can't be taken.",
        "C14": "You must always have a card left that you may discard.",
        "C15": "Your turn ends with one discard, any card, a wild card too. (You may agree that "
        "the card you took from the discard pile may not be discarded in the same turn.)",
        "C16": "You go out by discarding your last card. The round is over.",
        "C17": "If you begin your turn with a single card, draw from the stock. If you don't go "
        "out in that turn, discard the card you held and keep the one you drew. A wild card that "
        "you take for one of the two takes its place in this rule.",
        "C18": "The round is over, too, when the stock is empty: the turn in which its last card "
        "was drawn is finished, then everybody counts. Only who went out in that turn has nothing.",
        "C19": "The deal passes to the left.",
        "C20": "The cards left in your hand count against you: each wild card 25, other aces 1, "
        "two to ten their number, jack, queen and king 10. Going out costs nothing.",
        "C21": "If for three whole circuits of the table nobody drew from the stock, melded, laid "
        "off or took a wild card, the next draw must be from the stock.",
        "C22": "After the last round whoever has the fewest points wins. Equal players share the "
        "win.",
    }
)
