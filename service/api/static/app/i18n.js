/** What is said to people, in their language: the catalogues are those of the service. */

export const LANGUAGES = [["en", "English"], ["lv", "Latviešu"], ["hy", "Հայերեն"]];

/** Marks a text that is said elsewhere, so that it is found with the others. */
export const n = (text) => text;

const RANKS = { J: n("jack"), Q: n("queen"), K: n("king"), A: n("ace") };
const SUITS = { c: n("clubs"), d: n("diamonds"), h: n("hearts"), s: n("spades") };

let catalogue = {};

/** Texts that were wanted and are in no catalogue. */
export const missing = new Set();

function chosen() {
  const names = LANGUAGES.map(([name]) => name);
  const kept = localStorage.getItem("language");
  if (names.includes(kept)) return kept;
  const wanted = navigator.languages.map((tag) => tag.split("-")[0].toLowerCase());
  return wanted.find((name) => names.includes(name)) ?? "en";
}

export const language = chosen();

/** Read the catalogue; to be awaited before anything is said. */
export async function loadTexts() {
  document.documentElement.lang = language;
  if (language === "en") return;
  try {
    const answer = await fetch(`/texts/${language}`);
    if (answer.ok) catalogue = (await answer.json()).texts;
  } catch {
    // What can't be read is said in English.
  }
}

/** Change the language, for this browser. */
export function speak(name) {
  localStorage.setItem("language", name);
  location.reload();
}

/** What the catalogue lacks is said in English, and noted for who looks after the texts. */
function unsaid(text) {
  if (language !== "en" && text) missing.add(text);
  return text;
}

/** The text in the person's language, its {names} filled in. */
export function t(text, params = {}) {
  const said = catalogue[text] || unsaid(text);
  return said.replace(/\{(\w+)\}/g, (whole, name) => (name in params ? String(params[name]) : whole));
}

/** A rank as it is printed on a card. */
export const rankText = (rank) => (rank === "T" ? "10" : rank);

/** A card's name, for those who listen. */
export function cardName(card) {
  if (card.startsWith("X")) return t("joker");
  const rank = card[0] in RANKS ? t(RANKS[card[0]]) : rankText(card[0]);
  return t("{rank} of {suit}", { rank, suit: t(SUITS[card[1]]) });
}

/** A suit's name, for those who listen. */
export const suitName = (suit) => t(SUITS[suit]);

/** A card in a line of text. */
export function cardText(card) {
  if (card.startsWith("X")) return "★";
  return rankText(card[0]) + { c: "♣", d: "♦", h: "♥", s: "♠" }[card[1]];
}

/** A time, as people here write it. */
export function timeText(at) {
  return new Date(at).toLocaleString(language, { dateStyle: "medium", timeStyle: "medium" });
}
