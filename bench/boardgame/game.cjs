// Go Boom as a boardgame.io game: follow suit or rank, else draw; jokers are left out. One round.

const SUITS = ["c", "d", "h", "s"];
const RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"];
const PACK = RANKS.flatMap((rank) => SUITS.map((suit) => rank + suit));
const HAND = 7;

const follows = (card, top) => card[0] === top[0] || card[1] === top[1];
const { INVALID_MOVE } = require("boardgame.io/dist/cjs/core.js");

function legal(G, hand) {
  const top = G.discard[G.discard.length - 1];
  return hand.filter((card) => follows(card, top));
}

const GoBoom = {
  name: "go-boom",
  minPlayers: 4,
  maxPlayers: 4,
  setup: ({ ctx, random }) => {
    const deck = random.Shuffle([...PACK]);
    const hands = Array.from({ length: ctx.numPlayers }, () => deck.splice(0, HAND));
    return { secret: { stock: deck.slice(1) }, stock: deck.length - 1, discard: [deck[0]], passes: 0,
             players: Object.fromEntries(hands.map((hand, seat) => [String(seat), { hand }])) };
  },
  // What a player may see: their own hand, and how many cards the others hold.
  playerView: ({ G, playerID }) => {
    const { secret, players, ...open } = G;
    const counts = Object.fromEntries(Object.entries(players).map(([seat, one]) => [seat, one.hand.length]));
    return { ...open, counts, players: playerID == null ? {} : { [playerID]: players[playerID] } };
  },
  turn: { minMoves: 1 },
  moves: {
    play: { client: false, move: ({ G, playerID, events }, card) => {
      const hand = G.players[playerID].hand;
      if (!hand.includes(card) || !follows(card, G.discard[G.discard.length - 1])) return INVALID_MOVE;
      hand.splice(hand.indexOf(card), 1);
      G.discard.push(card);
      G.passes = 0;
      events.endTurn();
    } },
    draw: { client: false, move: ({ G, playerID }) => {
      if (G.secret.stock.length === 0 || legal(G, G.players[playerID].hand).length > 0) return INVALID_MOVE;
      G.players[playerID].hand.push(G.secret.stock.pop());
      G.stock -= 1;
    } },
    pass: { client: false, move: ({ G, playerID, events }) => {
      if (G.secret.stock.length > 0 || legal(G, G.players[playerID].hand).length > 0) return INVALID_MOVE;
      G.passes += 1;
      events.endTurn();
    } },
  },
  endIf: ({ G, ctx }) => {
    const out = Object.entries(G.players).find(([, one]) => one.hand?.length === 0);
    if (out) return { winner: out[0] };
    if (G.passes >= ctx.numPlayers) return { draw: true };
  },
};

module.exports = { GoBoom, legal };
