"""Jokers Go Boom in English."""

from collections.abc import Mapping
from types import MappingProxyType

RULES: Mapping[str, str] = MappingProxyType(
    {
        "G1": "Three or four can play. Play goes clockwise.",
        "G2": "You need a pack of 52 cards and its jokers: two, or as many as you agree on, "
        "from none to eight.",
        "G3": "The jokers are the boom cards. If you play without jokers, the aces are the boom "
        "cards instead.",
        "G4": "Each player is shown a card; the lowest deals first (two is low, ace is high). "
        "Players who tie for the lowest are shown another.",
        "G5": "Everybody gets seven cards, one at a time, starting at the dealer's left. The rest "
        "is the stock. Its top card is turned up beside it and starts the discard pile.",
        "G6": "If a joker is turned up, nobody has called a boom, so nobody draws, and the first "
        "player plays any card. An ace turned up is an ordinary ace to follow.",
        "G7": "The player at the dealer's left begins. In your turn play a card of the suit or of "
        "the rank of the top card, or a boom card. You play only cards that you hold, and if you "
        "hold one that matches you must play.",
        "G8": "If you hold no card that matches, draw one card from the stock; your turn is over "
        "even if it fits. A boom card that doesn't match is no duty: while the stock lasts you "
        "may play it or draw.",
        "G9": "A boom card may be played on anything in your own turn. Boom! Every other player "
        "draws one card, starting at your left, as long as the stock lasts. Then the next player "
        "goes on.",
        "G10": "On a joker any card may be played, and so you must play one. (You may agree that "
        "the card below the joker is still the one to follow.) An ace that boomed is followed by "
        "its own suit or rank.",
        "G11": "When the stock is empty and you can play nothing, no boom card either, you pass. "
        "If you can play you must, even if it is the boom card. Nobody passes while the stock has "
        "cards.",
        "G12": "Whoever plays their last card goes out, and the round is over. If it was a boom "
        "card, the others draw first.",
        "G13": "If the stock is empty and everybody in turn has passed, the round is over too. "
        "Nobody went out, and everybody counts their cards.",
        "G14": "The cards left in your hand count against you: a joker 20, an ace 15, king, queen, "
        "jack and ten 10 each, the others their number. Going out costs nothing.",
        "G15": "You play as many rounds as there are players, so that each deals once, or as many "
        "as you agree on. The deal passes to the left.",
        "G16": "Whoever has the fewest points at the end wins. Equal players share the win.",
        "G17": 'The player of a boom card calls "BOOM!". The table calls it for you, unless you '
        "agreed to call for yourselves: then a boom card played without the call is just a card, "
        "and nobody draws.",
    }
)
