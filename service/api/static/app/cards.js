/** Cards, drawn here: no picture comes from elsewhere. */

import { h } from "./dom.js";
import { cardName, cardText, rankText, t } from "./i18n.js";

const SHAPES = {
  c: "M12 2a4.7 4.7 0 0 1 3.4 7.9 4.7 4.7 0 1 1-2.6 7.2c.1 1.9.9 3.3 2.5 4.9H8.7c1.6-1.6 2.4-3 2.5-4.9a4.7 4.7 0 1 1-2.6-7.2A4.7 4.7 0 0 1 12 2z",
  d: "M12 1.5 19.8 12 12 22.5 4.2 12z",
  h: "M12 21.3C5 15.3 2 11.6 2 7.9 2 4.9 4.3 3 6.8 3c2 0 4 1.2 5.2 3.3C13.2 4.2 15.2 3 17.2 3 19.7 3 22 4.9 22 7.9c0 3.7-3 7.4-10 13.4z",
  s: "M12 1.8C7 7.8 3 10.4 3 14.5c0 2.6 2 4.4 4.3 4.4 1.5 0 2.9-.8 3.8-2-.1 2-.9 3.6-2.5 5.1h6.8c-1.6-1.5-2.4-3.1-2.5-5.1.9 1.2 2.3 2 3.8 2 2.3 0 4.3-1.8 4.3-4.4C21 10.4 17 7.8 12 1.8z",
};
const BOMB = "M10.5 8.2a7 7 0 1 0 5.3 5.3l1.2-1.2-1.6-1.6 1.5-1.6c.7-.6 1.5-.5 2.3.1l1-1.3c-1.5-1.2-3.2-1.1-4.5.2l-1.5 1.5-1.5-1.5z";
const SPARK = "M20.5 1.5l.7 2.2 2.3.2-1.8 1.4.6 2.2-1.8-1.3-1.9 1.3.6-2.2-1.8-1.4 2.3-.2z";
const SUITS = "cdhs";
const RANKS = "23456789TJQKA";

const place = (x, y, size) => `translate(${x} ${y}) scale(${size / 24})`;

/** The picture of a card's face. */
export function face(card) {
  const svg = h("svg", { viewBox: "0 0 50 70", "aria-hidden": "true", focusable: "false", class: "face" },
    h("rect", { class: "paper", x: "0.5", y: "0.5", width: "49", height: "69", rx: "5" }));
  if (card.startsWith("X")) {
    svg.append(
      h("path", { class: "joker", d: BOMB, transform: place(8, 17, 34) }),
      h("path", { class: "spark", d: SPARK, transform: place(8, 17, 34) }),
      h("text", { class: "joker rank small", x: "25", y: "14", "text-anchor": "middle" }, "JOKER"));
    return svg;
  }
  const [rank, suit] = card;
  const shape = (x, y, size) => h("path", { d: SHAPES[suit], transform: place(x, y, size) });
  svg.append(h("g", { class: `suit-${suit}` },
    h("text", { class: "rank", x: "4", y: "16" }, rankText(rank)),
    shape(4, 19, 11), shape(14, 30, 28)));
  return svg;
}

/** The picture of a card's back. */
export function back() {
  return h("svg", { viewBox: "0 0 50 70", "aria-hidden": "true", focusable: "false", class: "face back" },
    h("rect", { class: "cover", x: "0.5", y: "0.5", width: "49", height: "69", rx: "5" }),
    h("rect", { class: "frame", x: "4.5", y: "4.5", width: "41", height: "61", rx: "3" }),
    h("path", { class: "frame", d: "M25 14 40 35 25 56 10 35z" }),
    h("path", { class: "frame", d: "M25 23 33.5 35 25 47 16.5 35z" }));
}

/** A suit's shape by itself. */
export function suitShape(suit) {
  return h("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: "shape" },
    h("path", { class: `suit-${suit}`, d: SHAPES[suit] }));
}

/** A card that lies open: a picture with a name, nothing to press. */
export function openCard(card, { as = null, wild = false } = {}) {
  const name = as && as !== card ? t("{card}, stands for {as}", { card: cardName(card), as: cardName(as) }) : cardName(card);
  return h("span", { class: `card${wild ? " wild" : ""}`, role: "img", "aria-label": name, "data-card": card },
    face(card), as && as !== card && h("span", { class: "as", "aria-hidden": "true" }, cardText(as)));
}

/** A card to press. */
export function cardButton(card, { legal = false, selected = null, wild = false, onclick, label, ...more } = {}) {
  const name = label ?? (wild ? t("{card}, wild", { card: cardName(card) }) : cardName(card));
  return h("button", {
    type: "button", onclick, "data-card": card, "data-key": `card-${card}`, "aria-label": name,
    "aria-pressed": selected === null ? null : String(selected),
    class: `card${legal ? " legal" : ""}${selected ? " selected" : ""}${wild ? " wild" : ""}`, ...more,
  }, face(card));
}

/** The hand in order: `suit` first, or `rank` first; jokers last. */
export function sorted(cards, by = "suit", aceLow = false) {
  const ranks = aceLow ? `A${RANKS.slice(0, -1)}` : RANKS;
  const place_ = (card) => {
    if (card.startsWith("X")) return [99, Number(card.slice(1))];
    const rank = ranks.indexOf(card[0]);
    const suit = SUITS.indexOf(card[1]);
    return by === "suit" ? [suit, rank] : [rank, suit];
  };
  return [...cards].sort((one, other) => {
    const [a, b] = place_(one);
    const [c, d] = place_(other);
    return a - c || b - d;
  });
}
