/** The referee's desk: a dispute beside its game, hands that are read for a reason, moves tried, rulings. */

import { desk, get as read, isKey, post as write, call, Problem } from "./api.js";
import { isRummy, isWild, middle } from "./board.js";
import { cardButton, openCard, sorted } from "./cards.js";
import { drag } from "./drag.js";
import { button, field, h, render, select } from "./dom.js";
import { cardText, n, t, timeText } from "./i18n.js";
import { eventText, moveText, nameOf } from "./saying.js";
import { say, sayProblem, shell } from "./shell.js";

const LINES = 100;
const STATUSES = ["", n("open"), "under_review", n("resolved"), n("withdrawn")];
const KINDS = ["", n("event"), n("attempt"), n("replay"), n("connection")];

const main = await shell(n("Referee"));
main.classList.add("referee");
const places = Object.fromEntries(["head", "list", "work"].map((name) => [name, h("div", { class: name })]));
main.append(...Object.values(places));

const get = (path) => read(`/admin${path}`, { token: desk.token });
const post = (path, body = {}) => write(`/admin${path}`, body, { token: desk.token });
const download = (path) => read(`/admin${path}`, { token: desk.token, text: true });

/** Do it, and say what comes of it if it is refused. */
async function trying(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 401) { desk.token = null; drawHead(); }
    const first = error.body.errors?.[0];
    if (first) say(`${error.message} ${first.pointer}: ${first.detail}`, { kind: "problem" });
    else sayProblem(error);
    return null;
  }
}

const submit = (work) => (event) => { event.preventDefault(); trying(work); };

// Who it is, and what there is to do.

function drawHead() {
  if (!desk.token) {
    now = null;
    clear();
    render(places.list);
    render(places.work);
    const key = h("input", { type: "password", required: true, autocomplete: "off", pattern: "fd_ak_.+" });
    render(places.head, h("h1", {}, t("The referee's desk")),
      h("form", { class: "panel", onsubmit: (event) => {
        event.preventDefault();
        const given = key.value.trim();
        key.value = "";
        if (isKey(given)) desk.token = given; else say(t("There is no such key."), { kind: "problem" });
        drawHead();
      } },
        field(t("Admin key"), key, t("It stays in this tab, and is forgotten with it.")), h("button", { class: "primary" }, t("Come in"))));
    return;
  }
  const status = select(STATUSES.map((one) => [one, t(one ? one.replace("_", " ") : "all")]), "", { "data-key": "status", onchange: () => listDisputes(status.value) });
  render(places.head, h("h1", {}, t("The referee's desk")),
    h("div", { class: "row" },
      field(t("Disputes"), status),
      button(t("Requests to see hands"), listLooks), button(t("Trail"), () => listTrail()),
      button(t("Leave"), () => { desk.token = null; drawHead(); }, { class: "plain" })));
  listDisputes("");
}

/** Whose dispute it is, and about which events. */
const aboutText = ({ seat, seqs }) => `${t("Seat {seat}", { seat })}, ${t("events {seqs}", { seqs: seqs.join(", ") || "–" })}`;

async function listDisputes(status) {
  const page = await trying(() => get(`/disputes?limit=50${status ? `&status=${status}` : ""}`));
  if (!page) return;
  render(places.list, h("ul", { class: "cases", "aria-label": t("Disputes") }, page.items.map((one) => h("li", {},
    h("button", { type: "button", "data-key": one.id, onclick: () => openCase(one.id) },
      h("b", {}, t(one.reason)), " ", h("span", { class: `badge ${one.status}` }, t(one.status.replace("_", " "))),
      h("small", {}, `${aboutText(one)} · ${timeText(one.opened_at)}`))))),
  !page.items.length && h("p", {}, t("No disputes: everybody is content.")));
}

async function listLooks() {
  const page = await trying(() => get("/hidden-read-requests?limit=50"));
  if (!page) return;
  render(places.work, h("h2", {}, t("Requests to see hands")), !page.items.length && h("p", {}, t("None.")),
    h("ul", { class: "cases" }, page.items.map((one) => h("li", {},
      h("p", {}, h("b", {}, one.name), ` · ${t("event {seq}", { seq: one.version })} · ${t("seats {seats}", { seats: one.seats.join(", ") })}`),
      h("blockquote", {}, one.reason),
      one.approved_by ? h("p", {}, t("Approved {at}", { at: timeText(one.approved_at) }))
        : button(t("Approve"), () => trying(async () => { await post(`/hidden-read-requests/${one.id}/approval`); await listLooks(); }), { "data-key": `approve-${one.id}` }),
      h("code", { class: "key" }, one.id)))));
}

async function listTrail(cursor = null, before = []) {
  const page = await trying(() => get(`/audit?limit=100${cursor ? `&cursor=${cursor}` : ""}`));
  if (!page) return;
  const lines = [...before, ...page.items];
  render(places.work, h("h2", {}, t("What admins did")),
    button(t("Take it away"), () => trying(async () => {
      const text = await download("/audit/export");
      const link = h("a", { href: URL.createObjectURL(new Blob([text])), download: "trail.jsonl" });
      link.click();
      URL.revokeObjectURL(link.href);
    })),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("What admins did") }, h("table", {},
      h("thead", {}, h("tr", {}, [n("No."), n("When"), n("Who"), n("What"), n("About")].map((name) => h("th", { scope: "col" }, t(name))))),
      h("tbody", {}, lines.map((line) => h("tr", {}, h("td", {}, line.seq), h("td", {}, timeText(line.at)), h("td", {}, h("code", {}, line.admin.slice(-6))),
        h("td", {}, line.action), h("td", {}, h("code", {}, JSON.stringify(line.facts)))))))),
    page.next_cursor && button(t("More"), () => listTrail(page.next_cursor, lines)));
}

// One dispute.

let now = null;

async function openCase(id) {
  const dispute = await trying(() => get(`/disputes/${id}`));
  if (!dispute) return;
  const isSame = now?.dispute.id === id;
  if (!isSame) clear();
  now = isSame ? { ...now, dispute } : { dispute, view: null, knowledge: [], at: null, wanted: dispute.seqs[0] ?? null, moves: [], tried: [], preview: null, kind: "", moments: [], cursor: null, kindOf: "none", approval: null };
  drawCase();
  if (!isSame) readTimeline();
}

/** Nothing of a case is left on the page: neither hands nor words. */
function clear() {
  for (const part of Object.values(parts)) render(part);
}

const parts = Object.fromEntries(["case", "look", "boards", "timeline", "ruling"].map((name) => [name, h("section", { class: `panel ${name}` })]));

function drawCase() {
  render(places.work, h("div", { class: "bench" },
    h("div", {}, parts.case, parts.ruling), h("div", {}, parts.look, parts.boards, parts.timeline)));
  drawWords();
  drawLook();
  drawBoards();
  drawTimeline();
  drawRuling();
}

function drawWords() {
  const { dispute } = now;
  const words = h("textarea", { rows: "2", required: true, maxlength: "2000" });
  const visibility = select([["parties", t("to the players")], ["admins", t("to admins alone")]], "parties", { "aria-label": t("Who reads it"), "data-key": "visibility" });
  const change = (changes) => trying(async () => {
    await call("PATCH", `/admin/disputes/${dispute.id}`, { token: desk.token, body: changes, headers: { "If-Match": `"v${dispute.version}"` } });
    await openCase(dispute.id);
  });
  const isOpen = ["open", "under_review"].includes(dispute.status);
  render(parts.case,
    h("h2", {}, t("Dispute"), " ", h("span", { class: `badge ${dispute.status}` }, t(dispute.status.replace("_", " ")))),
    h("p", {}, `${t(dispute.reason)} · ${aboutText(dispute)}`,
      dispute.is_appealed && ` · ${t("appealed")}`),
    h("blockquote", {}, dispute.statement || t("(no words)")),
    h("ul", { class: "messages" }, dispute.messages.map((one) => h("li", { class: one.visibility },
      h("small", {}, `${t(one.author.kind)} · ${timeText(one.at)}${one.visibility === "admins" ? ` · ${t("to admins alone")}` : ""}`), h("p", {}, one.body)))),
    dispute.rulings.map((one) => h("div", { class: "ruled" }, h("b", {}, t("Ruled: {outcome}", { outcome: t(one.outcome) })), " ",
      one.remedies.map((remedy) => t(remedy.kind)).join(", "), h("p", {}, one.public_reason), one.private_note && h("p", { class: "hint" }, one.private_note))),
    isOpen && h("div", { class: "row" },
      dispute.status === "open" && button(t("Take it on"), () => change({ status: "under_review", assignee: "me" }), { class: "primary" }),
      dispute.status === "under_review" && button(t("Put it back"), () => change({ status: "open", assignee: null })),
      button(t("Hold the game"), () => trying(async () => { await post(`/games/${dispute.game}/hold`); say(t("The game is held.")); readTimeline(); })),
      button(t("Let it go on"), () => trying(async () => { await post(`/games/${dispute.game}/resume`); say(t("The game goes on.")); readTimeline(); })),
      button(t("Verify the log"), verify)),
    isOpen && h("form", { onsubmit: submit(async () => {
      await post(`/disputes/${dispute.id}/messages`, { body: words.value, visibility: visibility.value });
      words.value = "";
      visibility.value = "parties";
      await openCase(dispute.id);
    }) }, field(t("Say something"), words), visibility, h("button", {}, t("Send"))));
}

async function verify() {
  const report = await trying(() => post(`/games/${now.dispute.game}/verify`));
  if (!report) return;
  const wrong = report.checks.filter((one) => one.status === "failed");
  say(wrong.length ? wrong.map((one) => one.detail).join(" ") : t("Nothing is wrong with the log."), { kind: wrong.length ? "problem" : "" });
}

// Looking at hands.

function drawLook() {
  const reason = h("textarea", { rows: "2", required: true, minlength: "20", maxlength: "2000" });
  const at = h("input", { type: "number", min: 1, value: now.wanted ?? "", placeholder: t("the newest") });
  const seats = h("input", { type: "text", placeholder: t("all"), pattern: "[0-9 ,]*" });
  const approval = h("input", { type: "text", pattern: "[0-9a-z]{26}", value: now.approval ?? "" });
  const asked = () => {
    const named = seats.value.split(/[ ,]+/).filter(Boolean).map(Number);
    return { reason: reason.value, at: at.value ? Number(at.value) : null, seats: named.length ? named : null, dispute: now.dispute.id };
  };
  const mine = now;
  render(parts.look, h("h2", {}, t("See the hands")),
    h("p", { class: "hint" }, t("While the game runs this is written down first, and the players are told once it has ended.")),
    h("form", { onsubmit: submit(async () => {
      const found = await post(`/games/${mine.dispute.game}/hidden-reads`, { ...asked(), approval: approval.value || null });
      if (now !== mine) return; // another case lies open meanwhile
      Object.assign(mine, { view: found, knowledge: found.knowledge, at: found.at, wanted: found.at, reason: reason.value, approval: approval.value || null, moves: [], tried: [] });
      drawBoards();
      drawTimeline();
    }) },
    field(t("Why"), reason, t("At least twenty characters; they are kept for ever.")), field(t("At event"), at), field(t("Seats"), seats),
    h("details", { "data-key": "two" }, h("summary", {}, t("With another admin's approval")),
      field(t("Approved request"), approval),
      button(t("Ask for it"), () => trying(async () => {
        const look = await post(`/games/${mine.dispute.game}/hidden-read-requests`, asked());
        mine.approval = look.id;
        mine.wanted = look.version;
        if (now !== mine) return;
        drawLook();
        say(t("Asked: another admin has to approve of it."));
      }))),
    h("button", { class: "primary" }, t("See them"))));
}

function drawBoards() {
  const { view } = now;
  if (!view) { render(parts.boards, h("h2", {}, t("The table")), h("p", {}, t("See the hands first: then it is drawn here, and moves can be tried."))); return; }
  const add = (move) => { if (!isTrying) { now.moves.push(move); tryMoves(); } };
  const put = (card, place) => {
    if (place.startsWith("meld-")) add({ type: "lay_off", meld: Number(place.slice(5)), card });
    else add({ type: isRummy(view) ? "discard" : "play", card });
  };
  const seats = view.seats.filter((seat) => seat.hand);
  const free = h("input", { type: "text", "aria-label": t("A move as JSON"), placeholder: '{"type": "pass"}', "data-key": "free" });
  render(parts.boards, h("h2", {}, t("The table at event {seq}", { seq: now.at })),
    middle(view, {
      stock: { onclick: () => add(isRummy(view) ? { type: "draw", from: "stock" } : { type: "draw" }) },
      discard: isRummy(view) ? { onclick: () => add({ type: "draw", from: "discard" }) } : null,
    }),
    h("div", { class: "sides" }, seats.map((seat) => {
      const could = now.knowledge.find((one) => one.seat === seat.seat);
      const acts = view.to_act === seat.seat;
      return h("section", { class: `side${acts ? " acts" : ""}`, "data-seat": seat.seat, "aria-label": nameOf(view, seat.seat) },
        h("h3", {}, nameOf(view, seat.seat), acts && h("span", { class: "turn" }, t("to act"))),
        h("div", { class: "hand open" }, sorted(seat.hand, "suit", isRummy(view)).map((card) => (acts
          ? cardButton(card, { wild: isWild(view, card), onclick: () => put(card, "discard"), onpointerdown: (event) => drag(event, (place) => put(card, place)) })
          : openCard(card, { wild: isWild(view, card) })))),
        could && h("details", { "data-key": `knows-${seat.seat}` }, h("summary", {}, t("What this seat could know")),
          Object.entries(could.known).map(([other, cards]) => h("p", {}, t("In the hand of {who}: {cards}", { who: nameOf(view, Number(other)), cards: cards.map(cardText).join(" ") }))),
          h("p", {}, t("Unseen ({n}): {cards}", { n: could.unseen.length, cards: could.unseen.map(cardText).join(" ") })),
          h("p", {}, t("They are in the stock ({n}) or in the other hands.", { n: could.unseen_in.stock }))));
    })),
    h("div", { class: "tried" }, h("h3", {}, t("What if")),
      h("p", { class: "hint" }, t("Press or drag a card of the seat that is to act, or a pile: the rules say whether it would have been legal.")),
      h("ol", {}, now.tried.map((one) => h("li", { class: one.legal ? "passed" : "failed" },
        moveText(one.move, {}, one.seat ? nameOf(view, one.seat) : ""), " ",
        one.legal ? t("It is legal.") : h("span", {}, one.rule && h("b", {}, one.rule), " ", one.detail),
        one.reveals && h("small", {}, t("It would show a hidden card: it is tried no further."))))),
      h("div", { class: "row" },
        !isRummy(view) && button(t("Pass"), () => add({ type: "pass" })),
        free, button(t("Try it"), () => { try { add(JSON.parse(free.value)); } catch { say(t("That is no JSON."), { kind: "problem" }); } }),
        now.moves.length > 0 && button(t("Back one"), () => { if (!isTrying) { now.moves.pop(); tryMoves(); } }))));
}

let isTrying = false;

async function tryMoves() {
  const mine = now;
  isTrying = true;
  const asked = { at: now.at, moves: now.moves, reason: now.reason ?? null, dispute: now.dispute.id, approval: now.approval ?? null };
  const found = await trying(() => post(`/games/${mine.dispute.game}/what-if`, asked));
  isTrying = false;
  if (now !== mine) return;
  if (!found) { now.moves.pop(); return; }
  now.moves.length = found.moves.length;
  if (found.moves.at(-1)?.legal === false) now.moves.pop();
  Object.assign(now, { tried: found.moves, view: found.view, knowledge: found.knowledge });
  drawBoards();
}

// What happened, and what was tried.

async function readTimeline(more = false) {
  const query = new URLSearchParams({ limit: LINES });
  if (now.kind) query.set("kind", now.kind);
  if (more && now.cursor) query.set("cursor", now.cursor);
  const mine = now;
  const page = await trying(() => get(`/games/${mine.dispute.game}/timeline?${query}`));
  if (!page || now !== mine) return;
  now.moments = more ? [...now.moments, ...page.items] : page.items;
  now.cursor = page.next_cursor;
  drawTimeline();
}

function momentText({ kind, event, attempt, replay, connection }) {
  if (kind === "event") return [h("b", {}, event.seq), " ", eventText(event, now.view) ?? event.type];
  if (kind === "connection") return [t(connection.came ? "A player came: {id}" : "A player went: {id}", { id: connection.player.slice(-6) })];
  const one = attempt ?? replay;
  const what = one.moves ? one.moves.map((move) => JSON.stringify(move)).join(" ") : "";
  return [h("span", { class: "badge" }, one.code), " ", one.rule && h("b", {}, one.rule), ` ${one.seat ? t("Seat {seat}", { seat: one.seat }) : ""} ${what}`,
    h("small", {}, ` ${t("at version {version}", { version: one.version })} · ${one.key_label ?? ""}`)];
}

function drawTimeline() {
  const kind = select(KINDS.map((one) => [one, t(one || "all")]), now.kind, {
    "aria-label": t("Kind"), "data-key": "kind", onchange: () => { now.kind = kind.value; readTimeline(); },
  });
  render(parts.timeline, h("h2", {}, t("Timeline")), kind,
    h("ol", { class: "lines", "data-scroll": "timeline", "aria-label": t("Timeline") }, now.moments.map((moment) => {
      const seq = moment.event?.seq;
      return h("li", { class: `${moment.kind}${now.dispute.seqs.includes(seq) ? " disputed" : ""}` },
        h("time", { datetime: moment.at }, moment.at.slice(11, 19)), " ", momentText(moment),
        seq && button(t("Here"), () => { now.wanted = seq; drawLook(); parts.look.querySelector("textarea").focus(); }, { class: "plain", "data-key": `here-${seq}`, "aria-label": t("See the hands at event {seq}", { seq }) }));
    })),
    now.cursor && button(t("More"), () => readTimeline(true)));
}

// Ruling.

const REMEDIES = [n("none"), n("rewind"), n("redeal"), n("adjust_scores"), n("replace_seat"), n("extend_clock"), n("void"), n("award")];

function remedyFields(kind) {
  const number = (label, value = "") => { const control = h("input", { type: "number", value, required: true }); return [field(label, control), control]; };
  if (kind === "rewind") { const [shown, to] = number(t("Back to event"), now.wanted ?? ""); return [[shown], () => ({ kind, to: Number(to.value) })]; }
  if (kind === "redeal") { const [shown, round] = number(t("Round"), now.view?.round ?? 1); return [[shown], () => ({ kind, round: Number(round.value) })]; }
  if (kind === "replace_seat") { const [shown, seat] = number(t("Seat"), now.dispute.seat); return [[shown], () => ({ kind, seat: Number(seat.value) })]; }
  if (kind === "extend_clock") { const [shown, seconds] = number(t("Seconds"), 60); return [[shown], () => ({ kind, seconds: Number(seconds.value) })]; }
  if (kind === "adjust_scores" || kind === "award") {
    const seats = now.view?.seats ?? [];
    const text = kind === "award" ? JSON.stringify(seats.map(({ seat }) => [seat])) : JSON.stringify(Object.fromEntries(seats.map(({ seat, score }) => [seat, score])));
    const control = h("input", { type: "text", value: text, required: true });
    const name = kind === "award" ? n("standings") : n("scores");
    return [[field(t(name), control, t("As JSON."))], () => ({ kind, [name]: asJson(control.value) })];
  }
  return [[], () => ({ kind })];
}

function asJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(0, { detail: t("That is no JSON.") });
  }
}

function drawRuling() {
  const { dispute, preview } = now;
  if (!["open", "under_review"].includes(dispute.status)) { render(parts.ruling); parts.ruling.hidden = true; return; }
  parts.ruling.hidden = false;
  const outcome = select([["upheld", t("upheld")], ["rejected", t("rejected")]], "upheld");
  const kind = select(REMEDIES.map((one) => [one, t(one)]), now.kindOf, { "data-key": "remedy", onchange: () => { now.kindOf = kind.value; now.preview = null; drawRuling(); } });
  const [fields, remedy] = remedyFields(now.kindOf);
  const reason = h("textarea", { rows: "2", required: true, maxlength: "2000" });
  const note = h("textarea", { rows: "2", maxlength: "2000" });
  const asked = (isDry) => ({
    outcome: outcome.value, remedies: outcome.value === "rejected" ? [] : [remedy()],
    public_reason: reason.value, private_note: note.value, dry_run: isDry,
  });
  const form = h("form", { onsubmit: submit(async () => {
    if (!window.confirm(t("Rule so? It enters the log for good."))) return;
    await post(`/disputes/${dispute.id}/rulings`, asked(false));
    now.preview = null;
    say(t("It is ruled."));
    await openCase(dispute.id);
    await readTimeline();
  }) },
  field(t("Outcome"), outcome), field(t("Remedy"), kind), fields,
  field(t("Reason, for the players"), reason), field(t("Note, for admins"), note),
  h("div", { class: "row" },
    button(t("See what it would do"), () => { if (form.reportValidity()) trying(async () => { const found = await post(`/disputes/${dispute.id}/rulings`, asked(true)); if (now?.dispute.id !== dispute.id) return; now.preview = found.preview; drawRuling(); }); }),
    h("button", { class: "danger" }, t("Rule"))));
  render(parts.ruling, h("h2", {}, t("Rule")), form, preview && h("dl", { class: "preview" },
    [[n("It writes"), preview.events.join(", ")], [n("Status"), t(preview.status)], [n("To act"), preview.to_act ? t("Seat {seat}", { seat: preview.to_act }) : "–"],
      [n("Round"), preview.round ?? "–"], [n("Scores"), Object.entries(preview.scores).map(([seat, score]) => `${seat}: ${score}`).join(", ")],
      [n("Taken back"), preview.abandoned.map((span) => span.join("–")).join(", ") || "–"]]
      .map(([name, value]) => [h("dt", {}, t(name)), h("dd", {}, value)])));
}

drawHead();
