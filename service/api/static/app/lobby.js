/** The lobby: who you are, a table to open, tables to join, and whose turn it is in yours. */

import { account, call, follow, get, isKey, post, Problem } from "./api.js";
import { button, field, h, render, select } from "./dom.js";
import { n, t } from "./i18n.js";
import { optionsForm } from "./options.js";
import { say, sayProblem, shell } from "./shell.js";

const CLOCKS = [["", n("No clock")], ["30", n("30 seconds a turn")], ["120", n("2 minutes a turn")], ["3600", n("An hour a turn")], ["86400", n("A day a turn")]];

const main = await shell(n("Lobby"));
const parts = {
  you: h("section", { class: "panel", "aria-labelledby": "you" }),
  mine: h("section", { class: "panel", "aria-labelledby": "mine" }),
  make: h("section", { class: "panel", "aria-labelledby": "make" }),
  open: h("section", { class: "panel", "aria-labelledby": "open" }),
};
const headings = { you: t("You"), mine: t("Your tables"), make: t("Open a table"), open: t("Open tables") };
for (const [id, heading] of Object.entries(headings)) parts[id].append(h("h2", { id }, heading), h("p", {}, t("Loading…")));
main.classList.add("lobby");
main.append(
  h("div", { class: "hero" }, h("h1", {}, t("Cards that nobody can stack")),
    h("p", {}, t("Every deal is committed to before you sit down, every move is in a log that nobody can quietly rewrite, and you can check it all."))),
  h("div", { class: "columns" },
    h("div", {}, parts.you, parts.mine, parts.open), parts.make));

let player = null;
const { items: rulesets } = await get("/rulesets");
const titles = Object.fromEntries(rulesets.map((one) => [one.name, one.title]));

/** Do what a form asks for, and say what comes of it. */
async function trying(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const first = error.body.errors?.[0];
    if (first) say(`${error.message} ${first.pointer}: ${first.detail}`, { kind: "problem" });
    else sayProblem(error);
  }
}

async function readPlayer() {
  if (!account.token) return null;
  try {
    return (await get("/players/me")).player;
  } catch (error) {
    if (error.status === 401) account.token = null;
    return null;
  }
}

function drawYou() {
  if (player) {
    render(parts.you, h("h2", { id: "you" }, t("You")),
      h("p", {}, t("You play as {name}.", { name: player.name })),
      h("details", { "data-key": "key" }, h("summary", {}, t("Your key")),
        h("p", {}, t("Who has it plays as you. Keep it to play on in another browser.")),
        h("code", { class: "key" }, account.token),
        button(t("Forget it here"), async () => { account.token = null; await start(); })));
    return;
  }
  const name = h("input", { type: "text", required: true, maxlength: "40", autocomplete: "nickname" });
  const key = h("input", { type: "password", required: true, autocomplete: "off", pattern: "fd_pk_.+" });
  render(parts.you, h("h2", { id: "you" }, t("You")),
    h("form", {
      onsubmit: (event) => {
        event.preventDefault();
        trying(async () => {
          const made = await call("POST", "/players", { body: { name: name.value.trim() }, token: null });
          account.token = made.key.token;
          await start();
        });
      },
    }, field(t("Your name"), name), h("button", { class: "primary" }, t("Begin"))),
    h("details", { "data-key": "have" }, h("summary", {}, t("I have a key")),
      h("form", {
        onsubmit: async (event) => {
          event.preventDefault();
          if (isKey(key.value.trim())) account.token = key.value.trim();
          await start();
          if (!player) say(t("There is no such key."), { kind: "problem" });
        },
      }, field(t("Key"), key), h("button", {}, t("Use it")))));
}

// A table of one's own.

async function open(body) {
  const made = await post("/games", body);
  location.href = `/table/${made.view.game}`;
}

function drawMake() {
  if (!player) {
    render(parts.make, h("h2", { id: "make" }, t("Open a table")), h("p", {}, t("Say who you are first.")));
    return;
  }
  const rows = h("div");
  const choice = select(rulesets.map((one) => [one.name, one.title]), rulesets[0].name, { onchange: () => draw(choice.value) });
  render(parts.make, h("h2", { id: "make" }, t("Open a table")), field(t("Game"), choice), rows);

  async function draw(name) {
    render(rows, h("p", {}, t("Loading…")));
    const about = await get(`/rulesets/${name}`);
    if (choice.value !== name) return; // another one was chosen meanwhile
    const { least, most } = about.seats;
    const counts = Array.from({ length: most - least + 1 }, (_, n) => [least + n, least + n]);
    const seats = select(counts, Math.min(4, most), { onchange: () => drawBots() });
    const bots = h("div", { class: "bots" });
    const options = optionsForm(about.options);
    const clock = select(CLOCKS.map(([value, label]) => [value, t(label)]), "");
    const isPrivate = h("input", { type: "checkbox" });
    const spectators = select([["public", t("may look on")], ["delayed", t("see it later")], ["none", t("see nothing")]], "public");
    const holds = h("input", { type: "checkbox" });
    let choosers = [];
    function drawBots() {
      choosers = Array.from({ length: Number(seats.value) - 1 }, () => select(
        [["steady", t("a steady bot")], ["random", t("a random bot")], ["", t("a person")]], "steady"));
      render(bots, choosers.map((one, n) => field(t("Seat {seat}", { seat: n + 2 }), one)));
    }
    drawBots();
    render(rows, h("form", {
      onsubmit: (event) => {
        event.preventDefault();
        trying(() => open({
          ruleset: name, seats: Number(seats.value), options: options.read(),
          visibility: isPrivate.checked ? "private" : "public", spectators: spectators.value,
          turn_seconds: clock.value ? Number(clock.value) : null, hold_on_dispute: holds.checked,
          bots: choosers.flatMap((one, n) => (one.value ? [{ seat: n + 2, level: one.value }] : [])),
        }));
      },
    },
    field(t("Players"), seats),
    h("fieldset", {}, h("legend", {}, t("Who sits where")), h("p", { class: "hint" }, t("You sit in seat 1.")), bots),
    h("details", { "data-key": "house" }, h("summary", {}, t("House rules")), options.fields,
      field(t("Clock"), clock), field(t("Private table"), isPrivate, t("Only who is invited finds it.")),
      field(t("Others"), spectators), field(t("Stop for disputes"), holds, t("The game is held until a referee rules."))),
    h("button", { class: "primary" }, t("Open the table"))),
    h("details", { "data-key": "rules" }, h("summary", {}, t("The rules")),
      h("dl", { class: "rules" }, about.rules.map(({ rule, text }) => [h("dt", {}, rule), h("dd", {}, text)]))));
  }
  draw(choice.value);
}

// Tables that there are.

function gameItem(game, more) {
  const names = game.players.map((one) => one.name).filter(Boolean).join(", ");
  return h("li", { class: "game" },
    h("a", { href: `/table/${game.game}`, "data-key": `game-${game.game}` }, titles[game.ruleset] ?? game.ruleset),
    h("span", {}, names || t("bots only")), more);
}

function stateOf(game) {
  if (game.to_act && game.to_act === player?.id) return h("b", { class: "turn" }, t("your turn"));
  return h("span", { class: "state" }, t(game.status));
}

async function drawMine() {
  if (!player) { render(parts.mine); parts.mine.hidden = true; return; }
  parts.mine.hidden = false;
  const { items } = await get("/games?player=me&limit=30");
  const turn = (game) => (game.to_act === player.id ? 0 : 1);
  const over = (game) => (game.status === "finished" || game.status === "voided");
  const list = [...items].sort((one, other) => turn(one) - turn(other) || over(one) - over(other));
  render(parts.mine, h("h2", { id: "mine" }, t("Your tables")),
    list.length
      ? h("ul", { class: "games" }, list.map((game) => gameItem(game, [stateOf(game), over(game) && h("a", { href: `/replay/${game.game}`, "data-key": `replay-${game.game}` }, t("Replay"))])))
      : h("p", {}, t("None yet: open one, or sit down at another.")));
}

async function drawOpen() {
  const { items } = await get("/games?status=open&limit=30");
  const { items: running } = await get("/games?status=active&limit=10");
  const others = items.filter((game) => !game.players.some((one) => one.id === player?.id));
  const watched = running.filter((game) => !game.players.some((one) => one.id === player?.id));
  const sit = (game) => player && button(t("Sit down"), () => trying(async () => {
    await post(`/games/${game.game}/seats`, {});
    location.href = `/table/${game.game}`;
  }), { "data-key": `sit-${game.game}` });
  render(parts.open, h("h2", { id: "open" }, t("Open tables")),
    others.length
      ? h("ul", { class: "games" }, others.map((game) => gameItem(game, [h("span", { class: "state" }, t("Seats: {n}", { n: game.seats })), sit(game)])))
      : h("p", {}, t("Nobody waits for players just now.")),
    watched.length > 0 && [h("h3", {}, t("Being played")), h("ul", { class: "games" }, watched.map((game) => gameItem(game)))]);
}

let hangUp = () => {};

async function start() {
  hangUp();
  player = await readPlayer();
  drawYou();
  drawMake();
  await Promise.all([drawMine(), drawOpen()]);
  if (player) hangUp = follow("/players/me/events", (type) => { if (type !== "snapshot") drawMine(); });
}

setInterval(() => { if (!document.hidden) drawOpen().catch(() => {}); }, 15_000);
await start();
