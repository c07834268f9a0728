/**
 * A second verifier of Fairdeal exports, for browsers and Node, with nothing but WebCrypto.
 *
 * It checks what needs no rules engine: bytes, chain, completeness, commitment, the cut and every
 * deal, signature, inclusion. Moves and scores are the business of `fairdeal verify`.
 */

const CHECKS = [
  "canonical", "chain", "completeness", "commitment", "deals",
  "moves", "consequences", "scores", "signature", "inclusion",
];
const NEEDS_RULES = "needs the rules: run `fairdeal verify`";
const GENESIS = "0".repeat(64);
const SANDBOX_GAME = "0".repeat(26);
const DEEPEST = 64;
const HASH = /^[0-9a-f]{64}$/;

const RANKS = [..."23456789TJQKA"];
const SUITS = [..."cdhs"];
const LOW_ACE = [..."A23456789TJQK"];

/** A check failed; `seq` is the first event that fails it, null where it is none. */
class Failed extends Error {
  constructor(detail, seq = null) {
    super(detail);
    this.seq = seq;
  }
}

/** A check can't be made; the message says why. */
class NotChecked extends Error {}

/**
 * Every check of an export, in order.
 *
 * @param {string} text the export
 * @param {{keys?: object[]}} evidence `keys` are those of `GET /keys`, kept from before
 * @returns {Promise<{game: string|null, events: number, outcome: string, checks: object[]}>}
 */
export async function verify(text, { keys = null } = {}) {
  const checks = [];
  const make = async (check, run) => {
    const verdict = await made(check, run);
    checks.push(verdict);
    return verdict.status === "passed";
  };
  let log = { header: null, events: [], footer: null };
  const stages = [
    ["canonical", () => { log = parse(text); return "every line is canonical"; }],
    ["chain", () => checkChain(log)],
    ["completeness", () => checkCompleteness(log)],
  ];
  for (const [check, run] of stages) {
    if (!await make(check, run)) return report(log, checks, `${check} failed`);
  }
  if (await make("commitment", () => checkCommitment(log))) {
    await make("deals", () => checkDeals(log));
  } else {
    const last = checks.at(-1);
    checks.push(unchecked("deals", last.status === "failed" ? "commitment failed" : last.detail));
  }
  for (const check of ["moves", "consequences", "scores"]) {
    checks.push(unchecked(check, NEEDS_RULES));
  }
  await make("signature", () => checkSignature(log, keys));
  await make("inclusion", () => checkInclusion(log, keys));
  return report(log, checks, "");
}

function report(log, checks, reason) {
  for (const check of CHECKS.slice(checks.length)) checks.push(unchecked(check, reason));
  const isFailed = checks.some((verdict) => verdict.status === "failed");
  const game = log.events.length ? log.events[0].value.game : null;
  return { game, events: log.events.length, outcome: isFailed ? "failed" : "incomplete", checks };
}

async function made(check, run) {
  try {
    return { check, status: "passed", seq: null, detail: await run() };
  } catch (error) {
    if (error instanceof NotChecked) return unchecked(check, error.message);
    if (!(error instanceof Failed)) throw error;
    return { check, status: "failed", seq: error.seq, detail: error.message };
  }
}

function unchecked(check, detail) {
  return { check, status: "not_checked", seq: null, detail };
}

// Reading: line by line, in canonical bytes or not at all.

function parse(text) {
  const lines = text.split("\n");
  if (lines.pop() !== "") throw new Failed("the last line has no line feed");
  const log = { header: null, events: [], footer: null };
  for (const line of lines) {
    const seq = log.events.length + 1;
    const value = readCanonical(line, seq);
    if (value.kind === "header" && !log.events.length && log.header === null) {
      log.header = value;
    } else if (log.footer !== null) {
      throw new Failed("there are lines after the footer", seq);
    } else if (value.kind === "footer") {
      log.footer = value;
    } else {
      log.events.push({ value: readEvent(value, seq), line });
    }
  }
  if (!log.events.length) throw new Failed("there is no event");
  return log;
}

function readCanonical(line, seq) {
  let value;
  try {
    value = JSON.parse(line);
  } catch {
    throw new Failed("the line is no JSON", seq);
  }
  if (!isObject(value) || !isPlain(value, DEEPEST) || canonical(value) !== line) {
    throw new Failed("the line is not in its canonical bytes (RFC 8785)", seq);
  }
  return value;
}

/** The RFC 8785 text of a value within Fairdeal's bounds: no fractions, ASCII keys. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${members.join(",")}}`;
}

function isPlain(value, deep) {
  if (typeof value === "number") return Number.isSafeInteger(value);
  if (typeof value === "string") return isPlainText(value);
  if (Array.isArray(value)) return deep > 0 && value.every((item) => isPlain(item, deep - 1));
  if (!isObject(value)) return true;
  return deep > 0 && Object.entries(value).every(([key, item]) => /^[\x01-\x7f]*$/.test(key) && isPlain(item, deep - 1));
}

function isPlainText(text) {
  return !text.includes("\0") && !/\p{Surrogate}/u.test(text);
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const TIME = /^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$/;
const EVENT_SHAPE = {
  actor: isObject, at: isText, data: isObject, game: isText,
  hash: isText, prev: isText, seq: Number.isInteger, type: isText,
};

function isText(value) {
  return typeof value === "string";
}

function readEvent(value, seq) {
  if (Object.keys(value).sort().join() !== Object.keys(EVENT_SHAPE).join()) {
    throw new Failed("the line has not the members of an event", seq);
  }
  if (!Object.entries(EVENT_SHAPE).every(([name, fits]) => fits(value[name]))) {
    throw new Failed("a member of the event is of another kind", seq);
  }
  const { kind, id = "", ...more } = value.actor;
  if (!isText(kind) || !isText(id) || Object.keys(more).length) throw new Failed("the event's actor is none", seq);
  if (!TIME.test(value.at)) throw new Failed("the event's time is none", seq);
  return value;
}

// The checks.

async function checkChain({ events }) {
  let prev = GENESIS;
  const { game } = events[0].value;
  for (const [index, { value }] of events.entries()) {
    const seq = index + 1;
    if (value.seq !== seq) throw new Failed(`event ${value.seq} stands in the place of event ${seq}`, seq);
    if (value.game !== game) throw new Failed("the event is of another game", seq);
    if (value.prev !== prev) throw new Failed("prev is not the hash of the event before", seq);
    const { hash, ...rest } = value;
    if (hash !== await sha256Hex(`fairdeal/1 event\n${canonical(rest)}`)) {
      throw new Failed("the hash is not that of the event", seq);
    }
    prev = hash;
  }
  return `${events.length} events, head ${prev}`;
}

function checkCompleteness({ header, events, footer }) {
  const after = events.length + 1;
  const { game, data } = events[0].value;
  const described = {
    kind: "header", format: "fairdeal-export/1", game,
    ruleset: data.ruleset ?? null, ruleset_version: data.ruleset_version ?? null,
  };
  if (header === null || canonical(header) !== canonical(described)) {
    throw new Failed("the header is not that of an export of this game", 1);
  }
  if (footer === null) throw new Failed("the footer is missing: the end was cut off", after);
  if (Object.keys(footer).sort().join() !== "events,inclusion,kind,receipt") {
    throw new Failed("the footer has not the members of a footer", after);
  }
  if (footer.events !== events.length) {
    throw new Failed(`the footer does not count ${events.length} events`, after);
  }
  if (find(events, "game_ended") && !find(events, "secret_revealed")) {
    throw new Failed("the game ended, and its secret is not revealed", after);
  }
  return "header, events and footer agree";
}

async function checkCommitment({ events }) {
  const revealed = find(events, "secret_revealed");
  if (!revealed) throw new NotChecked("the game goes on: its secret is not revealed yet");
  const secret = revealed.data.server_secret;
  if (!isText(secret) || !HASH.test(secret)) throw new Failed("what is revealed is no secret", revealed.seq);
  const opened = await sha256Hex("fairdeal/1 commit\n", fromHex(secret));
  if (opened !== events[0].value.data.commitment) {
    throw new Failed("the revealed secret does not open the commitment of game_created", revealed.seq);
  }
  return "the revealed secret opens the commitment";
}

async function checkDeals({ events }) {
  const created = events[0].value;
  const { ruleset, ruleset_version: version } = created.data;
  if (created.type !== "game_created") throw new Failed("a log begins with game_created", 1);
  const rules = isText(ruleset) && isText(version) ? RULES.get(`${ruleset} ${version}`) : undefined;
  if (!rules) throw new NotChecked("the rules of this game are not known here");
  const secret = find(events, "secret_revealed").data.server_secret;
  if (!isCreatedAs(created.data, rules, secret)) throw new Failed("game_created is not what follows", 1);
  const table = {
    rules, seats: created.data.seats, options: created.data.options, secret: fromHex(secret),
    game: created.data.sandbox === null ? created.game : SANDBOX_GAME,
    occupants: Array(created.data.seats).fill(null), keys: null, firstDealer: null, starts: [], deals: [],
    rematch: created.data.rematch,
  };
  for (const { value: event } of events.slice(1)) {
    if (!Object.hasOwn(DEALING, event.type)) continue;
    if (!await DEALING[event.type](table, event.data, event.actor)) {
      throw new Failed(`${event.type} is not what follows from the secret and the events before`, event.seq);
    }
  }
  const deals = events.filter(({ value: event }) => event.type === "round_started").length;
  return `the cut and ${deals} deals follow from the secret and the contributions`;
}

function isCreatedAs(data, rules, secret) {
  if (!isObject(data.options) || !rules.seats.includes(data.seats)) return false;
  if (!["public", "private"].includes(data.visibility) || ![null, secret].includes(data.sandbox)) return false;
  const options = rules.options(data.options);
  if (options === null) return false;
  const clock = Object.hasOwn(data, "turn_seconds") ? { turn_seconds: data.turn_seconds } : {};
  if (clock.turn_seconds !== undefined && !isWhole(clock.turn_seconds, 5, 7 * 24 * 3600)) return false;
  const spectators = spectatorsOf(data), rematch = rematchOf(data);
  if (spectators === null || rematch === null) return false;
  const hold = Object.hasOwn(data, "hold_on_dispute") ? { hold_on_dispute: true } : {};
  return canonical(data) === canonical({
    ruleset: data.ruleset, ruleset_version: data.ruleset_version, options, seats: data.seats,
    visibility: data.visibility, sandbox: data.sandbox, algorithm: "fairdeal/1", commitment: data.commitment,
    ...clock, ...spectators, ...rematch, ...hold,
  });
}

/** Who may look on: left out for everybody; null where it is none of the policies. */
function spectatorsOf({ spectators, spectator_delay: delay }) {
  if (spectators === undefined) return delay === undefined ? {} : null;
  if (spectators === "none") return delay === undefined ? { spectators } : null;
  return spectators === "delayed" && isWhole(delay, 1, 200) ? { spectators, spectator_delay: delay } : null;
}

/** The game before, the seat that deals, and for whom the seats are kept; null where it is none. */
function rematchOf(data) {
  if (!Object.hasOwn(data, "rematch")) return {};
  const { of, dealer, players } = isObject(data.rematch) ? data.rematch : {};
  if (!isText(of) || !isWhole(dealer, 1, data.seats) || !isObject(players)) return null;
  const kept = Object.entries(players);
  if (!kept.every(([seat, player]) => /^[1-9]\d*$/.test(seat) && seat <= data.seats && isText(player) && player)) {
    return null;
  }
  return { rematch: { of, dealer, players } };
}

/** What each event of the deal changes at the table; false where it does not follow. */
const DEALING = {
  game_created: () => false,
  seat_taken(table, data) {
    const { seat, kind, contribution } = data;
    const who = Object.hasOwn(data, "player") ? { player: data.player } : { bot: data.bot };
    if (!isSeat(table, seat) || table.keys || !["human", "bot"].includes(kind)) return false;
    if (!isText(contribution) || !isText(Object.values(who)[0])) return false;
    const sitting = table.occupants[seat - 1];
    if (sitting && (sitting.player === undefined || sitting.player !== who.player)) return false;
    const kept = table.rematch?.players[seat];
    if (kept !== undefined && kept !== who.player) return false;
    table.occupants[seat - 1] = { kind, contribution, ...who };
    return canonical(data) === canonical({ seat, kind, contribution, ...who });
  },
  seat_left(table, data) {
    if (!isSeat(table, data.seat) || table.keys || !table.occupants[data.seat - 1]) return false;
    const { contribution: _given, ...who } = table.occupants[data.seat - 1];
    table.occupants[data.seat - 1] = null;
    return canonical(data) === canonical({ seat: data.seat, ...who });
  },
  async game_started(table, data) {
    if (table.keys || !table.occupants.every(Boolean)) return false;
    const contributions = table.occupants.map(({ contribution }) => contribution);
    table.keys = subKeys(await gameKey(table.secret, table.game, contributions));
    const cut = table.rematch
      ? { cut: [], dealer: table.rematch.dealer }
      : cutForDealer(await shuffle(pack(0), await table.keys.of("cut")), table);
    table.firstDealer = cut.dealer;
    return canonical(data) === canonical(cut);
  },
  async round_started(table, data, actor) {
    if (!table.keys || !isObject(data.scores)) return false;
    const seats = Array.from({ length: table.seats }, (_, index) => String(index + 1));
    if (!seats.every((seat) => Number.isInteger(data.scores[seat]))) return false;
    const told = Object.fromEntries(seats.map((seat) => [seat, data.scores[seat]]));
    const start = actor?.kind === "admin" ? dealtAgain(table, data.round) : dealtNext(table, told);
    if (start === null) return false;
    const { round, dealer, scores } = start;
    if (round > table.options.rounds) return false;
    const deal = nextDeal(table, round);
    table.starts = [...table.starts.slice(0, round - 1), { dealer, scores }];
    table.deals[round - 1] = deal;
    return canonical(data) === canonical(await expectedRound(table, { round, dealer, deal, scores }));
  },
  rewound(table, data) {
    const { round, deal, to } = data;
    if (!table.starts.length || round !== table.starts.length || deal !== nextDeal(table, round)) return false;
    table.deals[round - 1] = deal;
    return Number.isInteger(to);
  },
  ruling(table, data) {
    const { ruling, outcome, remedies } = data;
    if (!Array.isArray(remedies) || !remedies.every((remedy) => REMEDIES.includes(remedy))) return false;
    if (!["upheld", "rejected"].includes(outcome) || !isText(ruling) || !ruling) return false;
    if (Object.hasOwn(data, "dispute") && !(isText(data.dispute) && data.dispute)) return false;
    if (!remedies.includes("adjust_scores")) return true;
    const seats = Array.from({ length: table.seats }, (_, index) => String(index + 1));
    if (!isObject(data.scores) || !seats.every((seat) => Number.isInteger(data.scores[seat]))) return false;
    const present = table.starts.at(-1)?.scores ?? {};
    const changes = seats.map((seat) => [seat, data.scores[seat] - (present[seat] ?? 0)]);
    table.starts = table.starts.map(({ dealer, scores }) => ({
      dealer, scores: Object.fromEntries(changes.map(([seat, change]) => [seat, scores[seat] + change])),
    }));
    return true;
  },
};

const REMEDIES = [
  "none", "rewind", "redeal", "adjust_scores", "replace_seat", "extend_clock", "void", "award",
];

/** The round after the last one that counts: the deal passes to the left. */
function dealtNext(table, scores) {
  const last = table.starts.at(-1);
  const dealer = last ? last.dealer % table.seats + 1 : table.firstDealer;
  return { round: table.starts.length + 1, dealer, scores };
}

/** A round that was dealt before: the same dealer, and the scores before it. */
function dealtAgain(table, round) {
  if (!isWhole(round, 1, table.starts.length)) return null;
  return { round, ...table.starts[round - 1] };
}

/** No shuffle of a round's cards is used twice. */
function nextDeal(table, round) {
  return round <= table.deals.length ? table.deals[round - 1] + 1 : 0;
}

function isSeat(table, seat) {
  return isWhole(seat, 1, table.seats);
}

async function expectedRound(table, { round, dealer, deal, scores }) {
  const { rules, options, seats, keys } = table;
  const deck = await shuffle(rules.pack(options), await keys.of(`round/${round}/${deal}`));
  const place = { dealer, round };
  const mac = await hmac(await keys.of("state"), canonical(rules.deal(table, place, deck)));
  return {
    round, deal, dealer, first: dealer % seats + 1, scores,
    ...rules.facts(place, deck, table), state_mac: toHex(mac),
  };
}

async function checkSignature({ events, footer }, keys) {
  if (keys === null) throw new NotChecked("no keys were given");
  const last = events.length;
  const receipt = footer.receipt;
  if (receipt === null) throw new Failed("the service did not sign the last event", last);
  const members = { game: isText, hash: isText, key: isText, seq: Number.isInteger, signature: isText };
  if (!isObject(receipt) || Object.keys(receipt).sort().join() !== Object.keys(members).join()
      || !Object.entries(members).every(([name, fits]) => fits(receipt[name]))) {
    throw new Failed("a receipt has game, seq, hash, key and signature", last);
  }
  if (receipt.seq !== last) throw new Failed("the footer's receipt is not for the last event", last);
  const event = events[last - 1].value;
  if (receipt.game !== event.game) throw new Failed("the receipt is for another game", last);
  const key = await findKey(keys, receipt.key);
  if (!key) throw new Failed(`key ${receipt.key} is not among the keys`, last);
  const head = { game: receipt.game, hash: receipt.hash, seq: receipt.seq };
  if (!await isSigned(key, fromBase64Url(receipt.signature), bytes(`fairdeal/1 head\n${canonical(head)}`))) {
    throw new Failed("the receipt's signature is not that of its key", last);
  }
  if (receipt.hash !== event.hash) throw new Failed("the receipt is for another event in this place", last);
  if (key.valid_until !== null && event.at > key.valid_until) {
    throw new Failed("the key signed no more when the event happened", last);
  }
  return "the head is signed";
}

async function checkInclusion({ events, footer }, keys) {
  if (footer.inclusion === null) throw new NotChecked("no checkpoint holds the last event yet");
  const last = events.at(-1).value;
  const fail = (detail) => { throw new Failed(detail, last.seq); };
  const { index, path, checkpoint, ...more } = isObject(footer.inclusion) ? footer.inclusion : {};
  if (Object.keys(more).length || !Number.isInteger(index) || !Array.isArray(path) || !path.every((step) => isText(step) && HASH.test(step))
      || !isText(checkpoint)) fail("an inclusion has index, path and checkpoint");
  const note = readNote(checkpoint) ?? fail("it is no signed checkpoint");
  const final = Boolean(find(events, "game_ended"));
  const leaf = await hashed(0, bytes(canonical({ final, game: last.game, head: last.hash, seq: last.seq })));
  if (!await isIncluded(leaf, index, note.size, path.map(fromHex), note.root)) {
    fail("the path does not lead from the last event to the checkpoint");
  }
  if (keys === null) throw new NotChecked("the path leads to its checkpoint, whose signature needs the keys");
  if (!await isNoteSigned(note, keys)) fail("the checkpoint is signed by none of the keys");
  return `checkpoint ${note.size} holds the last event`;
}

function find(events, type) {
  return events.find(({ value }) => value.type === type)?.value;
}

// The deal, algorithm fairdeal/1.

/** The key of all that is dealt in a game; contributions by seat. */
export function gameKey(secret, game, contributions) {
  return hmac(secret, `fairdeal/1 game\n${canonical({ contributions, game })}`);
}

/** The keys below a game's key, by label: `cut`, `round/R/D`, `state`. */
export function subKeys(key) {
  return { of: (label) => hmac(key, `fairdeal/1 ${label}\n`) };
}

/** The cards in the order that the key gives them; element 0 is the top card. */
export async function shuffle(cards, key) {
  const shuffled = [...cards];
  const next = words(key);
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const chosen = await below(last + 1, next);
    [shuffled[last], shuffled[chosen]] = [shuffled[chosen], shuffled[last]];
  }
  return shuffled;
}

async function below(bound, next) {
  const limit = 2 ** 32 - 2 ** 32 % bound;
  for (;;) {
    const word = await next();
    if (word < limit) return word % bound;
  }
}

/** Big-endian 32-bit words without end, eight a block. */
export function words(key) {
  let block = null;
  let used = 0;
  return async () => {
    if (used % 8 === 0) {
      const index = new DataView(new ArrayBuffer(4));
      index.setUint32(0, used / 8);
      block = new DataView((await hmac(key, new Uint8Array(index.buffer))).buffer);
    }
    const word = block.getUint32((used % 8) * 4);
    used += 1;
    return word;
  };
}

/** 52 cards, clubs to spades, each from two to ace; then the jokers. */
export function pack(jokers) {
  const suited = SUITS.flatMap((suit) => RANKS.map((rank) => rank + suit));
  return [...suited, ...Array.from({ length: jokers }, (_, index) => `X${index + 1}`)];
}

/** Who deals first: the lowest card shown; seats that tie are shown the next cards. */
function cutForDealer(cards, { seats, rules }) {
  const cut = [];
  let tied = Array.from({ length: seats }, (_, index) => index + 1);
  while (tied.length > 1) {
    const turned = tied.map((seat, index) => ({ card: cards[cut.length + index], seat }));
    cut.push(...turned);
    const heights = turned.map(({ card }) => rules.order.indexOf(card[0]));
    tied = tied.filter((_, index) => heights[index] === Math.min(...heights));
  }
  return { cut, dealer: tied[0] };
}

/** Seven cards to each seat, one at a time, from the dealer's left. */
function sevenEach(deck, dealer, seats) {
  const hands = Array(seats);
  for (let turn = 0; turn < seats; turn += 1) {
    const seat = (dealer + turn) % seats;
    hands[seat] = Array.from({ length: 7 }, (_, card) => deck[turn + card * seats]);
  }
  return hands;
}

/** What each ruleset adds to a deal: its pack, who cuts lowest, its facts and its first state. */
const RULES = new Map(Object.entries({
  "jokers-go-boom 1": {
    order: RANKS,
    seats: [3, 4],
    options({ jokers, after_boom, boom_call, rounds }) {
      const fits = isWhole(jokers, 0, 8) && isWhole(rounds, 1, 20)
        && ["anything", "card_below"].includes(after_boom) && ["automatic", "required"].includes(boom_call);
      return fits ? { jokers, after_boom, boom_call, rounds } : null;
    },
    pack: ({ jokers }) => pack(jokers),
    facts: (_data, deck, { seats }) => ({ upcard: deck[7 * seats] }),
    deal: ({ seats, options }, { dealer }, deck) => ({
      after_boom: options.after_boom, boom_call: options.boom_call, jokers: options.jokers,
      discard: [deck[7 * seats]], hands: sevenEach(deck, dealer, seats).map((hand) => hand.sort()),
      passes: 0, stock: deck.slice(7 * seats + 1), to_act: dealer % seats + 1,
    }),
  },
  "crazy-rummy 1": {
    order: LOW_ACE,
    seats: [3, 4, 5, 6],
    options({ rounds, discard_taken }) {
      const fits = isWhole(rounds, 1, 13) && ["allowed", "forbidden"].includes(discard_taken);
      return fits ? { rounds, discard_taken } : null;
    },
    pack: () => pack(0),
    facts: ({ round }) => ({ wild: LOW_ACE[round - 1] }),
    deal: ({ seats, options }, { dealer, round }, deck) => {
      const hands = sevenEach(deck, dealer, seats);
      hands[dealer % seats].push(deck[7 * seats]);
      return {
        discard: [], discard_taken: options.discard_taken, hands: hands.map((hand) => hand.sort()),
        held_before: null, idle: 0, melded: [], melds: [], phase: "play",
        stock: deck.slice(7 * seats + 1), taken: null, to_act: dealer % seats + 1,
        wild: LOW_ACE[round - 1], worked: false,
      };
    },
  },
}));

function isWhole(value, least, most) {
  return Number.isInteger(value) && value >= least && value <= most;
}

// What binds from outside: signatures and the Merkle tree.

async function findKey(keys, id) {
  for (const key of keys) {
    const digest = await sha256Hex(fromBase64Url(key.public_key));
    if (digest.slice(0, 16) === id) return key;
  }
  return null;
}

async function isSigned(key, signature, message) {
  let imported;
  try {
    imported = await crypto.subtle.importKey("raw", fromBase64Url(key.public_key), "Ed25519", false, ["verify"]);
  } catch (error) {
    throw new NotChecked(`this browser checks no Ed25519 signatures: ${error.name}`);
  }
  return crypto.subtle.verify("Ed25519", imported, signature, message);
}

/** The parts of a signed checkpoint; null for a text that is none. */
export function readNote(text) {
  const end = text.indexOf("\n\n");
  const [origin, size, root, ...rest] = text.slice(0, end).split("\n");
  const lines = text.slice(end + 2).split("\n");
  if (end < 0 || rest.length || !origin || !/^(0|[1-9][0-9]{0,15})$/.test(size) || lines.pop() !== "") return null;
  const signatures = lines.map((line) => /^\u2014 ([^ ]+) ([A-Za-z0-9+/]+=*)$/.exec(line));
  const digest = fromBase64(root);
  if (!signatures.length || signatures.includes(null) || digest?.length !== 32) return null;
  const values = signatures.map(([, name, encoded]) => ({ name, value: fromBase64(encoded) }));
  if (values.some(({ value }) => value === null)) return null;
  return { origin, size: Number(size), root: digest, body: `${text.slice(0, end)}\n`, signatures: values };
}

async function isNoteSigned({ origin, body, signatures }, keys) {
  for (const key of keys) {
    const digest = await sha256(`${origin}\n\x01`, fromBase64Url(key.public_key));
    const hash = toHex(digest).slice(0, 8);
    for (const { name, value } of signatures) {
      if (name !== origin || toHex(value.slice(0, 4)) !== hash) continue;
      if (await isSigned(key, value.slice(4), bytes(body))) return true;
    }
  }
  return false;
}

/** Whether the path leads from the leaf's hash to the root (RFC 9162 §2.1.3.2). */
export async function isIncluded(leaf, index, size, path, root) {
  if (index < 0 || index >= size) return false;
  let [place, last, value] = [index, size - 1, leaf];
  for (const sibling of path) {
    if (last === 0) return false;
    if (place % 2 || place === last) {
      value = await hashed(1, sibling, value);
      while (place % 2 === 0 && place) [place, last] = [place / 2, Math.floor(last / 2)];
    } else {
      value = await hashed(1, value, sibling);
    }
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 && toHex(value) === toHex(root);
}

function hashed(prefix, ...parts) {
  return sha256(new Uint8Array([prefix]), ...parts);
}

// Bytes and texts.

function bytes(...parts) {
  const arrays = parts.map((part) => (isText(part) ? new TextEncoder().encode(part) : part));
  const joined = new Uint8Array(arrays.reduce((sum, array) => sum + array.length, 0));
  let at = 0;
  for (const array of arrays) {
    joined.set(array, at);
    at += array.length;
  }
  return joined;
}

async function sha256(...parts) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes(...parts)));
}

/** Hex SHA-256 of texts and bytes, one after the other. */
export async function sha256Hex(...parts) {
  return toHex(await sha256(...parts));
}

async function hmac(key, message) {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, bytes(message)));
}

/** Lower-case hex. */
export function toHex(array) {
  return Array.from(array, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of a hex text. */
export function fromHex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** The bytes of a base64 text in its one form; null for any other. */
function fromBase64(text) {
  try {
    const decoded = atob(text);
    return decoded && btoa(decoded) === text ? Uint8Array.from(decoded, (char) => char.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

/** The same for base64url without padding; no bytes for any other text. */
function fromBase64Url(text) {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return new Uint8Array();
  const padded = text + "=".repeat(-text.length & 3);
  return fromBase64(padded.replaceAll("-", "+").replaceAll("_", "/")) ?? new Uint8Array();
}
