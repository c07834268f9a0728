/** The table as it is drawn at the table itself, in a replay and at the referee's desk. */

import { back, cardButton, face, openCard, sorted, suitShape } from "./cards.js";
import { h } from "./dom.js";
import { cardName, rankText, suitName, t } from "./i18n.js";
import { nameOf } from "./saying.js";

const BACKS_SHOWN = 9;

/** What players call the game: the ruleset's name, as a title. */
export const titleOf = (view) => view.ruleset.split("-").map((word) => word[0].toUpperCase() + word.slice(1)).join(" ");

export const isRummy = (view) => Boolean(view.table && "melds" in view.table);
export const isWild = (view, card) => isRummy(view) && view.table.wild === card[0];

/** Each other seat, clockwise from the viewer's left: who, how many cards, points, whose turn. */
export function seatPanel(view, seat, { present = [], clock = null, open = true } = {}) {
  const acts = view.to_act === seat.seat;
  const isThere = present.includes(seat.seat);
  const name = seat.player ? nameOf(view, seat.seat) : t("Free seat");
  const known = open && seat.hand;
  return h("li", { class: `seat${acts ? " acts" : ""}`, "data-seat": seat.seat },
    h("div", { class: "who" },
      h("span", { class: `dot${isThere ? " there" : ""}${seat.player?.kind === "bot" ? " bot" : ""}`, "aria-hidden": "true" }),
      h("strong", {}, name),
      view.dealer === seat.seat && h("abbr", { title: t("Dealer"), class: "dealer" }, "D"),
      acts && h("span", { class: "turn" }, t("to act"), clock && h("span", { class: "clock" }, clock)),
      h("span", { class: "sr" }, isThere ? t("is here") : "")),
    known
      ? h("div", { class: "hand open" }, sorted(seat.hand).map((card) => openCard(card, { wild: isWild(view, card) })))
      : h("div", { class: "backs", "aria-hidden": "true" }, Array.from({ length: Math.min(seat.cards, BACKS_SHOWN) }, back)),
    h("div", { class: "counts" },
      h("span", {}, t("Cards: {n}", { n: seat.cards })), h("span", {}, t("Points: {n}", { n: seat.score }))));
}

/** The seats in the order in which they sit, the viewer's first. */
export function around(view) {
  const own = view.viewer.seat;
  if (!own) return view.seats;
  const at = view.seats.findIndex((seat) => seat.seat === own);
  return [...view.seats.slice(at), ...view.seats.slice(0, at)];
}

/** Stock, discard pile, and what lies between the players. `act` says what pressing them does. */
export function middle(view, act = {}) {
  if (!view.table) return null;
  const { stock, discard } = view.table;
  const pile = (props, picture, label) => (props.onclick
    ? h("button", { type: "button", class: `card pile${props.legal ? " legal" : ""}`, "aria-label": label, ...props, legal: null }, picture)
    : h("span", { class: "card pile", role: "img", "aria-label": label, "data-drop": props["data-drop"] ?? null }, picture));
  const empty = () => h("span", { class: "empty" });
  return h("div", { class: "middle" },
    h("div", { class: "piles" },
      h("div", { class: "stock" },
        pile({ ...act.stock, "data-key": "stock" }, stock ? back() : empty(), t("Stock, {n} cards", { n: stock })),
        h("small", { "aria-hidden": "true" }, t("Stock: {n}", { n: stock }))),
      h("div", { class: "discard" },
        pile({ ...act.discard, "data-key": "discard", "data-drop": "discard" },
          discard.top ? face(discard.top) : empty(),
          discard.top ? t("Discard pile, {n} cards, on top: {card}", { n: discard.count, card: cardName(discard.top) }) : t("Discard pile, empty")),
        h("small", { "aria-hidden": "true" }, t("Discards: {n}", { n: discard.count }))),
      aside(view)),
    isRummy(view) && melds(view, act));
}

/** What is to be followed, or what is wild. */
function aside(view) {
  if (isRummy(view)) {
    return h("p", { class: "follow" }, t("Wild"), h("b", {}, rankText(view.table.wild)));
  }
  const { follow } = view.table;
  if (view.round === null || view.result) return null;
  if (!follow) return h("p", { class: "follow" }, t("Anything may be played"));
  return h("p", { class: "follow" }, t("Follow"),
    follow.suit && h("span", { role: "img", "aria-label": suitName(follow.suit) }, suitShape(follow.suit)),
    follow.rank && h("b", {}, rankText(follow.rank)));
}

function melds(view, act) {
  const list = view.table.melds.map((meld) => {
    const cards = meld.cards.map(({ card, as }) => openCard(card, { as, wild: isWild(view, card) }));
    const kind = meld.kind === "run" ? t("Run of {who}", { who: nameOf(view, meld.seat) }) : t("Set of {who}", { who: nameOf(view, meld.seat) });
    return h("li", { class: "meld", "data-drop": `meld-${meld.id}` },
      act.meld
        ? h("button", { type: "button", class: "onto", "data-key": `meld-${meld.id}`, onclick: () => act.meld(meld.id) }, h("span", { class: "label" }, kind), h("span", { class: "laid" }, cards))
        : h("div", { class: "onto" }, h("span", { class: "label" }, kind), h("span", { class: "laid" }, cards)));
  });
  return h("ul", { class: "melds", "aria-label": t("Melds on the table") }, list.length ? list : h("li", { class: "none" }, t("No melds yet.")));
}

/** One's own hand, to be pressed and dragged. */
export function ownHand(view, hand, { legal, selected = null, press, grab, by }) {
  return h("div", { class: "hand own", role: "group", "aria-label": t("Your hand"), tabindex: "-1", "data-next": true },
    sorted(hand, by, isRummy(view)).map((card) => cardButton(card, {
      legal: legal.has(card), wild: isWild(view, card), selected: selected && selected.has(card),
      onclick: () => press(card), onpointerdown: grab && ((event) => grab(event, card)),
    })));
}

/** The places that a result gives, in words. */
export function resultBox(view) {
  if (!view.result) return null;
  const { standings, scores, reason } = view.result;
  const first = standings[0].map((seat) => nameOf(view, seat)).join(", ");
  return h("section", { class: "result", "aria-label": t("Result") },
    h("h2", {}, standings[0].length > 1 ? t("{who} share the win", { who: first }) : t("{who} wins", { who: first })),
    reason !== "played_out" && reason !== "finished" && h("p", {}, t(reason)),
    h("ol", {}, standings.map((seats) => h("li", {}, seats.map((seat) => `${nameOf(view, seat)}: ${scores[seat]}`).join(", ")))));
}

/** The points of each round, as a table. */
export function scoreSheet(view, rounds) {
  const seats = view.seats.map((seat) => seat.seat);
  const totals = Object.fromEntries(view.seats.map((seat) => [seat.seat, seat.score]));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("Score sheet") }, h("table", { class: "sheet" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("Round")), seats.map((seat) => h("th", { scope: "col" }, nameOf(view, seat))))),
    h("tbody", {}, rounds.map(({ round, points, by }) => h("tr", {}, h("th", { scope: "row" }, round),
      seats.map((seat) => h("td", { class: by === seat ? "out" : "" }, points[seat]))))),
    h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, t("Sum")), seats.map((seat) => h("td", {}, totals[seat]))))));
}

/** The rounds that count, of events in order: a round that is dealt again is not counted twice. */
export function roundsOf(events) {
  const rounds = new Map();
  let present = 0;
  for (const event of events) {
    if (event.type === "round_started") present = event.data.round;
    if (event.type === "round_started") for (const round of rounds.keys()) if (round >= present) rounds.delete(round);
    if (event.type === "round_ended") rounds.set(present, { round: present, points: event.data.points, by: event.data.by ?? null, seq: event.seq });
  }
  return [...rounds.values()];
}
