/** What every page has: the way around, the language, sound, what was just said. */

import { reach } from "./api.js";
import { button, h, render, select } from "./dom.js";
import { LANGUAGES, language, loadTexts, n, speak, t } from "./i18n.js";

const SAID_MS = 12_000;

export const settings = {
  get sound() { return localStorage.getItem("sound") === "on"; },
  set sound(on) { localStorage.setItem("sound", on ? "on" : "off"); },
  get sort() { return localStorage.getItem("sort") === "rank" ? "rank" : "suit"; },
  set sort(by) { localStorage.setItem("sort", by); },
};

/** Whether the person lets things move. */
export const maysMove = () => !matchMedia("(prefers-reduced-motion: reduce)").matches;

let toast = null;
let timer = 0;

/** Say something to the person, and to who listens. */
export function say(text, { kind = "", more = null } = {}) {
  clearTimeout(timer);
  render(toast, h("div", { class: `toast ${kind}` }, h("p", {}, text), more,
    button("×", hush, { "aria-label": t("Close"), class: "plain close", "data-key": "hush" })));
  timer = setTimeout(hush, SAID_MS);
}

/** Take back what was said. */
export function hush() {
  render(toast);
}

/** Say what a refusal means: its reason, and the rule that it cites. */
export function sayProblem(problem, rules = new Map()) {
  const rule = problem.body?.rule;
  const about = rule && rules.get(rule);
  say(problem.message, { kind: "problem", more: about && h("p", { class: "rule" }, h("b", {}, rule), " ", about) });
}

/**
 * Build the page around its main part.
 *
 * @param {string} title the page's heading
 * @returns {Promise<HTMLElement>} the main part, empty
 */
export async function shell(title, { hasSound = false } = {}) {
  await loadTexts();
  document.title = `${t(title)} · Fairdeal`;
  const main = h("main", { id: "main", tabindex: "-1" });
  toast = h("div", { class: "toasts", role: "status", "aria-live": "polite" });
  const away = h("p", { class: "away", role: "alert", hidden: true }, t("The service is out of reach: trying again."));
  const here = location.pathname;
  const link = (path, name) => h("a", { href: path, "aria-current": here === path ? "page" : null }, t(name));
  const chooser = select(LANGUAGES, language, {
    id: "language", "aria-label": t("Language"), onchange: (event) => speak(event.target.value),
  });
  const sound = h("button", {
    type: "button", class: "plain", "aria-pressed": String(settings.sound), title: t("Sound"),
    onclick: (event) => {
      settings.sound = !settings.sound;
      event.currentTarget.setAttribute("aria-pressed", String(settings.sound));
    },
  }, h("span", { "aria-hidden": "true" }, "♪"), h("span", { class: "sr" }, t("Sound")));
  document.body.replaceChildren(
    h("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); main.focus(); } }, t("To the main part")),
    h("header", { class: "bar" },
      h("a", { href: "/", class: "brand" }, h("span", { "aria-hidden": "true" }, "♠"), "Fairdeal"),
      h("nav", { "aria-label": t("Pages") }, link("/", n("Lobby")), link("/replay", n("Replay")), link("/docs", n("API"))),
      h("div", { class: "tools" }, hasSound && sound, chooser)),
    away, main, toast);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hush(); });
  reach.told = (isThere) => { away.hidden = isThere; };
  return main;
}

let audio = null;

/** A sound, if the person wants any: how high, how long, in seconds. */
export function beep(hertz, seconds = 0.12, shape = "triangle") {
  if (!settings.sound) return;
  audio ??= new AudioContext();
  const [tone, volume] = [audio.createOscillator(), audio.createGain()];
  tone.type = shape;
  tone.frequency.setValueAtTime(hertz, audio.currentTime);
  if (shape === "sawtooth") tone.frequency.exponentialRampToValueAtTime(40, audio.currentTime + seconds);
  volume.gain.setValueAtTime(0.15, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + seconds);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + seconds);
}
