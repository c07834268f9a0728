/** "Check this game": the verifier runs in the browser, and each of its checks is shown. */

import { verify } from "/static/proof.js";
import { call, get } from "./api.js";
import { button, h, render } from "./dom.js";
import { n, t } from "./i18n.js";

const MARKS = { passed: "✓", failed: "✗", not_checked: "–" };
const NAMES = {
  canonical: n("Every line is written as it was signed"),
  chain: n("Each event is chained to the one before"),
  completeness: n("Nothing is missing at either end"),
  commitment: n("The secret is the one that was committed to"),
  deals: n("Every card was dealt as committed"),
  moves: n("Every move was legal"),
  consequences: n("All that followed from the moves is right"),
  scores: n("Points and winners are right"),
  signature: n("The service signed it"),
  inclusion: n("A published checkpoint holds it"),
};
const OUTCOMES = {
  verified: n("All of it is verified."),
  incomplete: n("Nothing is wrong; some of it could not be checked here."),
  failed: n("Something is wrong with this game."),
};
const RULES = new Set(["moves", "consequences", "scores"]);

/** The part of a page that checks a log; `read` gives its text. */
export function checker(read) {
  const place = h("div", { class: "checks", "aria-live": "polite" });
  let text = null;

  const line = ({ check, status, detail, seq }, byService = false) => h("li", { class: status, "data-check": check },
    h("span", { class: "mark", "aria-hidden": "true" }, MARKS[status]),
    h("div", {}, h("b", {}, t(NAMES[check] ?? check)), " ",
      h("span", { class: "verdict" }, t(status.replace("_", " "))), byService && h("small", {}, ` (${t("by the service, not by your browser")})`),
      h("small", { class: "detail" }, seq ? `${t("Event {seq}", { seq })}: ${detail}` : detail)));

  async function check() {
    render(place, h("p", {}, t("Checking…")));
    try {
      text = await read();
      const { keys } = await get("/keys", { token: null });
      const report = await verify(text, { keys });
      show(report);
    } catch (error) {
      render(place, h("p", { class: "failed" }, error.message));
    }
  }

  function show(report, more = null) {
    const wanted = new Map((more?.checks ?? []).filter((one) => RULES.has(one.check)).map((one) => [one.check, one]));
    const rest = !more && report.outcome !== "failed" && report.checks.some((one) => RULES.has(one.check) && one.status === "not_checked");
    const outcome = [report.outcome, more?.outcome].includes("failed") ? "failed" : more?.outcome ?? report.outcome;
    render(place,
      h("p", { class: `outcome ${outcome}`, "data-outcome": outcome }, t(OUTCOMES[outcome] ?? outcome)),
      h("ul", {}, report.checks.map((one) => (wanted.has(one.check) ? line(wanted.get(one.check), true) : line(one)))),
      rest && h("p", {}, t("Your browser checked the cards. The moves need the rules:"), " ",
        button(t("Let the service check the moves"), () => ask(report), { "data-key": "ask" })));
  }

  async function ask(report) {
    try {
      show(report, await call("POST", "/verify", { body: text, headers: { "Content-Type": "application/x-ndjson" } }));
    } catch (error) {
      render(place, h("p", { class: "failed" }, error.message));
    }
  }

  return h("section", { class: "panel check", "aria-labelledby": "check" },
    h("h2", { id: "check" }, t("Check this game")),
    h("p", {}, t("Your browser downloads the log and checks it by itself: nobody has to be believed.")),
    button(t("Check this game"), check, { class: "primary", "data-key": "check" }), place);
}
