/** The table: look, select, play, and see what the others do; over the public API alone. */

import { account, call, follow, freshKey, get, post, Problem } from "./api.js";
import { around, isRummy, middle, ownHand, resultBox, roundsOf, scoreSheet, seatPanel, titleOf } from "./board.js";
import { openCard } from "./cards.js";
import { drag } from "./drag.js";
import { button, field, h, render, select } from "./dom.js";
import { cardText, n, t } from "./i18n.js";
import { eventText, nameOf } from "./saying.js";
import { beep, hush, maysMove, say, sayProblem, settings, shell } from "./shell.js";

const game = location.pathname.split("/")[2];
const LINES = 40;
const BOOM_MS = 1400;
const AGAIN_MS = 3000;
const OVER = new Set(["finished", "voided"]);

const main = await shell(n("Table"), { hasSound: true });
main.classList.add("table");
const invitation = new URLSearchParams(location.hash.slice(1)).get("invitation");
const places = Object.fromEntries(["top", "others", "center", "own", "side"].map((name) => [name, h("div", { class: name })]));
main.append(...Object.values(places));
const stateLine = h("p", { class: "state", role: "status" });
const teller = h("div", { class: "sr", "aria-live": "polite" });
const boom = h("div", { class: "boom", "aria-hidden": "true" });
document.body.append(teller, boom);

let view = null;
let present = [];
let clockSkew = 0;
let sending = false;
let asking = null;
let invitationLink = "";
let rounds = null;
let newest = 0;
const selected = new Set();
const lines = [];
let rules = new Map();

// What is known of the game.

function take(fresh) {
  if (view && fresh.version < view.version) return;
  clockSkew = Date.parse(fresh.server_time) - Date.now();
  const wasOver = view && OVER.has(view.status);
  view = fresh;
  if (own()) localStorage.setItem(`sat-${game}`, "yes");
  for (const card of [...selected]) if (!hand().includes(card)) selected.delete(card);
  if (!mayAct()) asking = null;
  if (!wasOver && OVER.has(view.status)) rounds = null;
  draw();
}

let looking = null;
let again = false;

/** Look at the game anew; several wishes at once are one. */
async function look() {
  if (looking) { again = true; return looking; }
  looking = get(`/games/${game}`).then(take).finally(() => {
    looking = null;
    if (again) { again = false; look(); }
  });
  return looking;
}

function told(type, data) {
  if (type === "snapshot") {
    present = data.present ?? present;
    newest = data.version;
    take(data);
    return;
  }
  if (type === "presence") { present = data.seats; draw(); return; }
  if (type === "end") { look().catch(failed); return; }
  if (data.seq <= newest) return;
  newest = data.seq;
  const text = eventText(data, view);
  lines.unshift({ seq: data.seq, text });
  lines.length = Math.min(lines.length, LINES);
  teller.textContent = text;
  if (data.type === "move") heard(data);
  if (rounds && ["round_ended", "round_started"].includes(data.type)) rounds = null;
  look().catch(failed);
}

function heard({ data, actor }) {
  if (data.outcome?.boom) {
    beep(180, 0.9, "sawtooth");
    if (maysMove()) {
      render(boom, h("span", {}, "BOOM!"));
      boom.classList.remove("shown");
      void boom.offsetWidth;
      boom.classList.add("shown");
      setTimeout(() => { boom.classList.remove("shown"); }, BOOM_MS);
    }
  } else if (actor.id !== ownId()) {
    beep(data.move.type === "draw" ? 320 : 440);
  }
}

const own = () => view?.seats.find((seat) => seat.seat === view.viewer.seat) ?? null;
const ownId = () => own()?.player?.id ?? null;
const hand = () => own()?.hand ?? [];
const legalMoves = () => view?.legal_moves ?? [];
const mayAct = () => Boolean(view && view.status === "active" && view.to_act && view.to_act === view.viewer.seat);

function failed(error) {
  if (!(error instanceof Problem)) throw error;
  if (error.status === 401) drawLocked();
  else if (error.status === 404 && !view) drawMissing();
  else if (!view) drawRefused(error.message);
  else sayProblem(error, rules);
}

/** The stream is refused: why, says the game itself; if it says nothing, it is tried again. */
function streamed(state) {
  if (state !== "refused") return;
  look().then(() => setTimeout(() => follow(`/games/${game}/events`, told, streamed), AGAIN_MS)).catch(failed);
}

// Moves.

/** Send a move; sent again until it is answered, and done once. */
async function move(body) {
  if (sending) return;
  sending = true;
  asking = null;
  hush();
  draw();
  try {
    const answer = await post(`/games/${game}/moves`, { move: body });
    selected.clear();
    beep(660, 0.08);
    sending = false;
    take(answer.view);
  } catch (error) {
    if (error instanceof Problem && error.body.readings) ask(body, error.body.readings);
    else failed(error);
  } finally {
    sending = false;
    draw();
    if (asking) places.own.querySelector("[data-key=answer-0]")?.focus();
  }
}

/** Ask what a wild card is to stand for, where there is more than one way. */
function ask(body, readings) {
  asking = {
    title: t("What does it stand for?"),
    answers: readings.map((as) => ({
      label: [as].flat().map(cardText).join(" "), cards: [as].flat(), body: { ...body, as },
    })),
  };
}

const boomCalls = (card) => legalMoves().filter((one) => one.type === "play" && one.card === card && one.call);

function press(card) {
  if (!view || view.status !== "active") return;
  if (isRummy(view)) {
    if (selected.has(card)) selected.delete(card); else selected.add(card);
    draw();
    return;
  }
  if (!mayAct()) { say(t("It is not your turn.")); return; }
  if (boomCalls(card).length) {
    asking = {
      title: t("Call it?"),
      answers: [
        { label: t("BOOM!"), cards: [card], body: { type: "play", card, call: "BOOM" } },
        { label: t("Play it quietly"), cards: [card], body: { type: "play", card } },
      ],
    };
    draw();
    places.own.querySelector("[data-key=answer-0]")?.focus();
    return;
  }
  move({ type: "play", card });
}

/** Put a card on a meld: lay it off, or take a wild card for it. */
function onto(meld, card) {
  const ways = legalMoves().filter((one) => one.meld === meld && one.card === card);
  if (ways.length === 1) { move(ways[0]); return; }
  if (ways.length === 0) { move({ type: "lay_off", meld, card }); return; }
  asking = {
    title: t("What do you want to do?"),
    answers: ways.map((body) => ({
      label: body.type === "take_wild"
        ? t("Take {wild} for it", { wild: cardText(body.wild) })
        : t("Lay it off as {as}", { as: cardText(body.as ?? card) }),
      cards: [body.wild ?? body.as ?? card], body,
    })),
  };
  draw();
  places.own.querySelector("[data-key=answer-0]")?.focus();
}

function dropped(card, place) {
  if (!mayAct()) { say(t("It is not your turn.")); return; }
  if (place.startsWith("meld-")) onto(Number(place.slice(5)), card);
  else if (isRummy(view)) move({ type: "discard", card });
  else press(card);
}

const one = () => (selected.size === 1 ? [...selected][0] : null);
const can = (type, more = {}) => legalMoves().some((body) => body.type === type && Object.entries(more).every(([name, value]) => body[name] === value));

// What is drawn.

function legalCards() {
  const cards = new Set();
  if (!mayAct()) return cards;
  for (const body of legalMoves()) for (const card of [body.card, ...(body.cards ?? [])]) if (card) cards.add(card);
  return cards;
}

function act() {
  if (!mayAct() || sending) return {};
  if (!isRummy(view)) {
    return { stock: can("draw") ? { legal: true, onclick: () => move({ type: "draw" }) } : null };
  }
  const drawing = view.phase === "draw";
  const card = one();
  return {
    stock: can("draw", { from: "stock" }) ? { legal: true, onclick: () => move({ type: "draw", from: "stock" }) } : null,
    discard: drawing
      ? { legal: can("draw", { from: "discard" }), onclick: () => move({ type: "draw", from: "discard" }) }
      : card && { legal: can("discard", { card }), onclick: () => move({ type: "discard", card }) },
    meld: drawing || !card ? null : (meld) => onto(meld, card),
  };
}

function actions() {
  if (!mayAct()) return null;
  const busy = { "aria-disabled": sending ? "true" : null, "data-next": true };
  const clear = selected.size > 0 && button(t("Clear the selection"), () => { selected.clear(); draw(); }, { ...busy, "data-key": "clear" });
  if (!isRummy(view)) {
    return h("div", { class: "actions" },
      can("draw") && button(t("Draw a card"), () => move({ type: "draw" }), { ...busy, class: "primary", "data-key": "draw" }),
      can("pass") && button(t("Pass"), () => move({ type: "pass" }), { ...busy, class: "primary", "data-key": "pass" }));
  }
  if (view.phase === "draw") {
    const top = view.table.discard.top;
    return h("div", { class: "actions" },
      button(t("Draw from the stock"), () => move({ type: "draw", from: "stock" }), { ...busy, class: "primary", "data-key": "draw" }),
      top && button(t("Take {card}", { card: cardText(top) }), () => move({ type: "draw", from: "discard" }), { ...busy, "data-key": "take" }), clear);
  }
  return h("div", { class: "actions" },
    button(t("Meld"), () => { if (selected.size >= 3) move({ type: "meld", cards: [...selected] }); }, { "aria-disabled": sending || selected.size < 3 ? "true" : null, "data-key": "meld" }),
    button(t("Discard"), () => { if (one()) move({ type: "discard", card: one() }); }, { "aria-disabled": sending || !one() ? "true" : null, class: "primary", "data-key": "out" }), clear,
    h("p", { class: "hint" }, t("Select cards to meld, or one to discard; then press a meld to lay it off there.")));
}

function question() {
  if (!asking) return null;
  return h("div", { class: "question", role: "group", "aria-label": asking.title },
    h("p", {}, asking.title),
    asking.answers.map(({ label, cards, body }, n) => h("button", {
      type: "button", "data-key": `answer-${n}`, onclick: () => move(body),
    }, h("span", { class: "few", "aria-hidden": "true" }, cards.map((card) => openCard(card))), label)),
    button(t("Neither"), () => { asking = null; draw(); }, { class: "plain" }));
}

function turnText() {
  if (view.status === "open") return t("Waiting for players");
  if (view.status === "held") return t("The game is held: a referee looks at it.");
  if (view.status === "voided") return t("The game was voided.");
  if (view.status === "finished") return t("The game is over.");
  if (mayAct()) return t("Your turn");
  return view.to_act ? t("{who} is to act", { who: nameOf(view, view.to_act) }) : "";
}

function clockText() {
  if (!view?.deadline_at) return null;
  const left = Math.max(0, Math.round((Date.parse(view.deadline_at) - Date.now() - clockSkew) / 1000));
  const [hours, minutes, seconds] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

// A press is let go before anything is drawn anew: what is pressed must still be there then.
let isPressed = false;
let isWanted = false;
addEventListener("pointerdown", () => { isPressed = true; }, true);
for (const end of ["pointerup", "pointercancel"]) {
  addEventListener(end, () => setTimeout(() => {
    isPressed = false;
    if (isWanted) draw();
  }, 0), true);
}

function draw() {
  if (!view) return;
  isWanted = isPressed;
  if (isPressed) return;
  const seats = around(view);
  const mine = own();
  const others = mine ? seats.slice(1) : seats;
  main.classList.toggle("acting", mayAct());
  main.classList.toggle("choosing", legalCards().size > 0);
  if (stateLine.textContent !== turnText()) stateLine.textContent = turnText();
  render(places.top,
    h("h1", {}, titleOf(view)),
    stateLine, mayAct() && clockText() && h("span", { class: "clock" }, clockText()),
    view.round && h("p", { class: "round" }, t("Round {round} of {rounds}", { round: view.round, rounds: view.rounds })),
    view.sandbox && h("p", { class: "warning" }, t("A sandbox: its deal is known.")));
  render(places.others, h("ul", { class: "seats", "aria-label": t("The others") },
    others.map((seat) => seatPanel(view, seat, { present, clock: view.to_act === seat.seat ? clockText() : null }))));
  render(places.center, resultBox(view), afterwards(), waiting(), middle(view, act()));
  render(places.own, mine && [
    h("div", { class: "mine" }, h("strong", {}, mine.player?.name ?? ""), h("span", {}, t("Points: {n}", { n: mine.score })),
      view.dealer === mine.seat && h("abbr", { title: t("Dealer"), class: "dealer" }, "D"),
      hand().length > 0 && button(settings.sort === "suit" ? t("By suit") : t("By rank"), () => {
        settings.sort = settings.sort === "suit" ? "rank" : "suit";
        draw();
      }, { class: "plain", "data-key": "sort", "aria-label": t("Sort the hand by suit or by rank") })),
    question(),
    hand().length > 0 && ownHand(view, hand(), {
      legal: legalCards(), selected: isRummy(view) ? selected : null, by: settings.sort, press,
      grab: mayAct() && !sending ? (event, card) => drag(event, (place) => dropped(card, place)) : null,
    }),
    actions()]);
  drawSide();
}

/** Give up the seat, or come back to it. */
function seated(what) {
  post(`/games/${game}/${what}`).then(({ view: after }) => take(after)).catch(failed);
}

let sideOf = "";

/** The panel beside the table, drawn anew only if what it shows is another thing. */
function drawSide() {
  const shows = JSON.stringify([lines[0], lines.length, rounds, rules.size, view.status, own()?.player?.id ?? null, view.version === newest]);
  if (shows === sideOf) return;
  sideOf = shows;
  render(places.side,
    h("details", { "data-key": "log", open: innerWidth > 900 && !places.side.firstChild }, h("summary", {}, t("What happened")),
      h("ol", { class: "lines", "data-scroll": "lines" }, lines.map(({ seq, text }) => h("li", {}, h("a", { href: `/replay/${game}#${seq}`, "data-key": `line-${seq}`, "aria-label": t("Event {seq}", { seq }) }, `${seq}`), " ", text))),
      !lines.length && h("p", {}, t("Nothing yet."))),
    h("details", { "data-key": "sheet", ontoggle: (event) => { if (event.target.open && !rounds) readRounds(); } },
      h("summary", {}, t("Score sheet")), rounds ? scoreSheet(view, rounds) : h("p", {}, "…")),
    h("details", { "data-key": "rules" }, h("summary", {}, t("The rules")),
      h("dl", { class: "rules" }, [...rules].map(([rule, text]) => [h("dt", { id: rule }, rule), h("dd", {}, text)]))),
    h("details", { "data-key": "fair" }, h("summary", {}, t("Fair play")),
      h("p", {}, t("The deal was committed to before anybody sat down:")),
      h("code", { class: "key" }, view.fairness.commitment),
      h("p", {}, h("a", { href: `/replay/${game}` }, t("Watch and check this game")))),
    own() && view.status !== "open" && disputes(),
    own() && ["active", "held"].includes(view.status) && h("details", { "data-key": "leave" }, h("summary", {}, t("Leave the game")),
      h("p", {}, t("A bot plays on for you, for good.")),
      button(t("Give up my seat"), () => seated("resignation"), { class: "danger" })),
    ["active", "held"].includes(view.status) && !own() && localStorage.getItem(`sat-${game}`) && button(t("Come back to my seat"), () => seated("return"), { "data-key": "return" }));
}

async function readRounds() {
  const events = [];
  let after = 0;
  for (;;) {
    const page = await get(`/games/${game}/events?after=${after}&limit=200`);
    events.push(...page.items.filter((event) => event.type.startsWith("round_")));
    after = page.next_after;
    if (!page.more) break;
  }
  rounds = roundsOf(events);
  drawSide();
}

function disputes() {
  const reason = select([n("rules"), n("deal"), n("conduct"), n("clock"), n("other")].map((one_) => [one_, t(one_)]), "rules");
  const seqs = h("input", { type: "text", inputmode: "numeric", pattern: "[0-9 ,]*", value: lines[0]?.seq ?? view.version });
  const statement = h("textarea", { required: true, maxlength: "2000", rows: "3" });
  return h("details", { "data-key": "dispute" }, h("summary", {}, t("File a dispute")),
    h("form", {
      onsubmit: (event) => {
        event.preventDefault();
        const about = seqs.value.split(/[ ,]+/).filter(Boolean).map(Number);
        post(`/games/${game}/disputes`, { reason: reason.value, seqs: about, statement: statement.value })
          .then(() => { statement.value = ""; say(t("It is filed: a referee will look at it.")); })
          .catch(failed);
      },
    }, field(t("About"), reason), field(t("Events"), seqs, t("Their numbers, as in what happened.")), field(t("What is wrong"), statement),
    h("button", {}, t("File it"))));
}

// Before the start, and after the end.

function waiting() {
  if (view.status !== "open") return null;
  const mine = own();
  const free = view.seats.filter((seat) => !seat.player);
  if (!mine) {
    if (!account.token) return h("p", {}, h("a", { href: "/" }, t("Say who you are in the lobby, then sit down here.")));
    return h("div", { class: "wait" }, free.map((seat) => button(t("Sit down in seat {seat}", { seat: seat.seat }), () => sit({ seat: seat.seat }), { class: "primary" })));
  }
  const words = h("input", { type: "text", maxlength: "64", required: true, value: luckyWords() });
  return h("div", { class: "wait" },
    h("form", {
      onsubmit: (event) => {
        event.preventDefault();
        call("PUT", `/games/${game}/seats/${mine.seat}/contribution`, { body: { contribution: words.value } })
          .then(({ view: after }) => { take(after); if (after.status === "open") say(t("Your words are in the shuffle.")); })
          .catch(failed);
      },
    },
    h("p", {}, t("The server has committed to its part of the shuffle. Your words go into it, too: so it could not choose the cards.")),
    field(t("Your words"), words), h("button", { class: "primary", "data-key": "shuffle" }, free.length ? t("Put them in") : t("Put them in, and begin"))),
    free.length > 0 && [
      h("p", {}, t("Free seats: {n}", { n: free.length })),
      button(t("Copy an invitation"), invite, { "data-key": "invite" }),
      h("output", { class: "key", id: "invitation" }, invitationLink)],
    button(t("Leave the table"), () => call("DELETE", `/games/${game}/seats/${mine.seat}`).then(() => { location.href = "/"; }).catch(failed), { class: "plain" }));
}

function luckyWords() {
  const kept = sessionStorage.getItem(`words-${game}`);
  if (kept) return kept;
  const made = freshKey().slice(0, 12);
  sessionStorage.setItem(`words-${game}`, made);
  return made;
}

async function invite() {
  try {
    const { token } = await post(`/games/${game}/invitations`, {});
    const link = `${location.origin}/table/${game}#invitation=${token}`;
    invitationLink = link;
    draw();
    await navigator.clipboard?.writeText(link).catch(() => {});
    say(t("Whoever has this link may sit down."));
  } catch (error) { failed(error); }
}

async function sit(body) {
  try {
    const { view: after } = await post(`/games/${game}/seats`, { ...body, ...(invitation ? { invitation } : {}) });
    history.replaceState(null, "", location.pathname);
    const isNew = !view;
    take(after);
    if (isNew) await settle();
  } catch (error) { sayProblem(error); }
}

function afterwards() {
  if (!OVER.has(view.status)) return null;
  return h("div", { class: "actions" },
    h("a", { class: "button primary", href: `/replay/${game}` }, t("Watch and check this game")),
    own() && view.status === "finished" && button(t("Play again"), () => post(`/games/${game}/rematch`)
      .then(({ view: after }) => { location.href = `/table/${after.game}`; }).catch(failed), { "data-key": "rematch" }));
}

function drawMissing() {
  render(places.center, invitation
    ? h("div", { class: "wait" }, h("p", {}, t("You are invited to this table.")),
      account.token ? button(t("Sit down"), () => sit({}), { class: "primary" }) : h("a", { href: "/" }, t("Say who you are in the lobby, then come back by this link.")))
    : h("p", {}, t("There is no such table, or it is private.")));
}

function drawRefused(message) {
  render(places.center, h("div", { class: "wait" }, h("p", {}, message), h("a", { href: "/" }, t("Lobby"))));
}

/** The key is good for nothing any more: it is forgotten here, and the lobby takes another one. */
function drawLocked() {
  account.token = null;
  for (const place of Object.values(places)) render(place);
  view = null;
  drawRefused(t("Your key is not good any more."));
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && (selected.size || asking)) { selected.clear(); asking = null; draw(); }
});
setInterval(() => {
  for (const clock of document.querySelectorAll(".clock")) clock.textContent = clockText() ?? "";
}, 1000);

/** What happened last, before one came. */
async function readLines() {
  const { items } = await get(`/games/${game}/events?after=${Math.max(0, view.version - LINES)}&limit=${LINES}`);
  for (const event of items) {
    const text = eventText(event, view);
    if (!lines.some((line) => line.seq === event.seq)) lines.push({ seq: event.seq, text });
  }
  lines.sort((one_, other) => other.seq - one_.seq);
  drawSide();
}

/** Read what does not change, and follow the game from here on. */
async function settle() {
  const about = await get(`/rulesets/${view.ruleset}/${view.ruleset_version}`);
  rules = new Map(about.rules.map(({ rule, text }) => [rule, text]));
  draw();
  follow(`/games/${game}/events`, told, streamed);
  await readLines();
}

try {
  await look();
  await settle();
} catch (error) { failed(error); }
