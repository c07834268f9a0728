/** A game again, event by event, from any seat, with a check of all of it. */

import { call, get, Problem } from "./api.js";
import { middle, resultBox, roundsOf, scoreSheet, seatPanel, titleOf } from "./board.js";
import { handChart, markNow, scoreChart } from "./charts.js";
import { checker } from "./check.js";
import { button, h, render, select } from "./dom.js";
import { n, t } from "./i18n.js";
import { eventText, nameOf } from "./saying.js";
import { shell } from "./shell.js";

const AT_ONCE = 100;
const SPEEDS = [[2000, n("slow")], [900, n("steady")], [300, n("fast")]];
const OVER = new Set(["finished", "voided"]);
const PUBLIC = "";

const main = await shell(n("Replay"));
main.classList.add("replay");
const game = location.pathname.split("/")[2] || null;

/** The page of one game, of frames that come bit by bit. */
class Player {
  constructor(latest, read) {
    this.latest = latest;
    this.total = latest.version;
    this.frames = [];
    this.abandoned = [];
    this.at = Math.min(Math.max(1, Number(location.hash.slice(1)) || 1), this.total);
    this.eyes = OVER.has(latest.status) ? "all" : latest.viewer?.seat ? String(latest.viewer.seat) : PUBLIC;
    this.speed = 900;
    this.timer = 0;
    this.ended = new AbortController();
    this.read = read;
    this.place = Object.fromEntries(["head", "controls", "board", "side", "charts"].map((name) => [name, h("div", { class: name })]));
  }

  start() {
    const { head, controls, board, side, charts } = this.place;
    main.append(head, board, controls, side, charts, checker(this.read));
    this.drawHead();
    this.drawControls();
    const { signal } = this.ended;
    addEventListener("hashchange", () => { if (/^#\d+$/.test(location.hash)) this.seek(Number(location.hash.slice(1))); }, { signal });
    document.addEventListener("keydown", (event) => this.key(event), { signal });
  }

  /** Another game comes in its place. */
  end() {
    clearTimeout(this.timer);
    this.ended.abort();
  }

  key(event) {
    if (event.target.closest("input, select, textarea, button, a, summary")) return;
    const steps = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -this.total, End: this.total };
    if (event.key in steps) { event.preventDefault(); this.seek(this.at + steps[event.key]); }
    if (event.key === " ") { event.preventDefault(); this.toggle(); }
  }

  add(frames) {
    this.frames.push(...frames);
    this.drawCharts();
    this.drawSide();
    this.drawBoard();
  }

  seek(seq) {
    this.at = Math.min(Math.max(1, seq), this.total);
    history.replaceState(null, "", `#${this.at}`);
    this.drawBoard();
    this.slider.value = this.at;
    this.slider.setAttribute("aria-valuetext", t("Event {seq} of {total}", { seq: this.at, total: this.total }));
    this.number.textContent = `${this.at} / ${this.total}`;
    markNow(this.place.charts, this.at, this.total);
    for (const line of this.place.side.querySelectorAll("[aria-current]")) line.removeAttribute("aria-current");
    const line = this.place.side.querySelector(`[data-seq="${this.at}"]`);
    line?.setAttribute("aria-current", "step");
    line?.scrollIntoView({ block: "nearest" });
  }

  toggle() {
    if (this.timer) { this.stop(); return; }
    if (this.at === this.total) this.seek(1);
    const next = () => {
      if (this.at >= this.total) { this.stop(); return; }
      this.seek(this.at + 1);
      this.timer = setTimeout(next, this.speed);
    };
    this.timer = setTimeout(next, this.speed);
    this.playing.textContent = t("Pause");
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.playing.textContent = t("Play");
  }

  drawHead() {
    const view = this.latest;
    render(this.place.head, h("h1", {}, titleOf(view)), h("p", {}, view.seats.map((seat) => nameOf(view, seat.seat)).join(" · ")), resultBox(view));
  }

  drawControls() {
    const view = this.latest;
    const seats = view.seats.map((seat) => [String(seat.seat), nameOf(view, seat.seat)]);
    const eyes = OVER.has(view.status)
      ? [["all", t("all hands")], ...seats, [PUBLIC, t("nobody's")]]
      : [...seats.filter(([seat]) => seat === String(view.viewer?.seat)), [PUBLIC, t("nobody's")]];
    this.slider = h("input", {
      type: "range", min: 1, max: this.total, value: this.at, "aria-label": t("Event"),
      oninput: (event) => this.seek(Number(event.target.value)),
    });
    this.number = h("output", {}, `${this.at} / ${this.total}`);
    this.playing = button(t("Play"), () => this.toggle(), { class: "primary" });
    render(this.place.controls,
      h("div", { class: "row" },
        button("«", () => this.seek(1), { "aria-label": t("To the start") }),
        button("‹", () => this.seek(this.at - 1), { "aria-label": t("One event back") }),
        this.playing,
        button("›", () => this.seek(this.at + 1), { "aria-label": t("One event on") }),
        button("»", () => this.seek(this.total), { "aria-label": t("To the end") }),
        this.number,
        h("label", {}, t("Speed"), " ", select(SPEEDS.map(([ms, name]) => [ms, t(name)]), this.speed, { onchange: (event) => { this.speed = Number(event.target.value); } })),
        h("label", {}, t("Eyes"), " ", select(eyes, this.eyes, { onchange: (event) => { this.eyes = event.target.value; this.drawBoard(); } }))),
      this.slider);
  }

  isAbandoned(seq) {
    return this.abandoned.some(([first, last]) => first <= seq && seq <= last);
  }

  drawBoard() {
    const frame = this.frames[this.at - 1];
    if (!frame) { render(this.place.board, h("p", {}, t("Loading…"))); return; }
    const seats = frame.view.seats.map((seat) => {
      const mayShow = this.eyes === "all" || this.eyes === String(seat.seat);
      return seatPanel(frame.view, seat, { open: mayShow });
    });
    render(this.place.board,
      this.isAbandoned(this.at) && h("p", { class: "warning" }, t("This was taken back by a ruling: it does not count.")),
      h("p", { class: "event", role: "status" }, eventText(frame.event, frame.view) ?? frame.event.type),
      h("ul", { class: "seats" }, seats),
      middle(frame.view));
  }

  drawSide() {
    const lines = this.frames.map(({ seq, event, view }) => h("li", {
      class: this.isAbandoned(seq) ? "taken-back" : "", "data-seq": seq, "aria-current": seq === this.at ? "step" : null,
    }, h("a", { href: `#${seq}` }, seq), " ", eventText(event, view) ?? event.type));
    render(this.place.side, h("h2", {}, t("Events")),
      this.abandoned.length > 0 && h("p", { class: "hint" }, t("On the right: what was taken back.")),
      h("ol", { class: "lines", "aria-label": t("Events") }, lines));
  }

  drawCharts() {
    const rounds = roundsOf(this.frames.map((frame) => frame.event));
    render(this.place.charts,
      handChart(this.latest, this.frames, this.total, this.abandoned, (seq) => this.seek(seq)),
      rounds.length > 0 && [scoreChart(this.latest, rounds), scoreSheet(this.latest, rounds)]);
    markNow(this.place.charts, this.at, this.total);
  }
}

async function ofGame() {
  const view = await get(`/games/${game}`);
  const player = new Player(view, () => call("GET", `/games/${game}/export`, { text: true }));
  player.start();
  const seat = OVER.has(view.status) ? "&seat=all" : "";
  for (let from = 1; from !== null && from <= view.version;) {
    const to = Math.min(view.version, from + AT_ONCE - 1);
    const part = await get(`/games/${game}/replay?from=${from}&to=${to}${seat}`);
    player.abandoned = part.abandoned ?? [];
    player.add(part.items);
    from = part.next_from ?? to + 1;
  }
  player.seek(player.at);
}

let shown = null;

async function ofFile(text) {
  let replay = null;
  try {
    replay = await call("POST", "/replays", { body: text, headers: { "Content-Type": "application/x-ndjson" } });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    shown?.end();
    render(main, h("h1", {}, t("A file")), h("p", { class: "warning" }, error.message), checker(async () => text));
    return;
  }
  shown?.end();
  render(main);
  const player = new Player(replay.items.at(-1).view, async () => text);
  shown = player;
  player.abandoned = replay.abandoned;
  player.start();
  player.add(replay.items);
  player.seek(player.at);
}

function choose() {
  const file = h("input", { type: "file", accept: ".jsonl,application/x-ndjson", onchange: async (event) => { await ofFile(await event.target.files[0].text()); } });
  const link = h("input", { type: "text", pattern: "[0-9a-z]{26}", required: true, autocomplete: "off" });
  main.append(h("h1", {}, t("Replay")),
    h("div", { class: "panel drop" }, h("p", {}, t("Drop an exported game here, or choose it: its log is checked in your browser.")),
      h("label", { class: "file" }, t("Choose a file"), file)),
    h("form", { class: "panel", onsubmit: (event) => { event.preventDefault(); location.href = `/replay/${link.value}`; } },
      h("label", {}, t("Or the id of a game"), " ", link), " ", h("button", {}, t("Watch it"))));
}

document.addEventListener("dragover", (event) => { event.preventDefault(); });
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  const file = event.dataTransfer.files[0];
  if (file) await ofFile(await file.text());
});

try {
  if (game) await ofGame(); else choose();
} catch (error) {
  if (!(error instanceof Problem)) throw error;
  if (error.status === 404) render(main, h("h1", {}, t("Replay")), h("p", {}, t("There is no such game, or it is private.")));
  else render(main, h("h1", {}, t("Replay")), h("p", { class: "warning" }, error.message), h("a", { href: "/" }, t("Lobby")));
}
