/** Charts of a game: how many cards each hand holds, and the points by round. */

import { h } from "./dom.js";
import { t } from "./i18n.js";
import { nameOf } from "./saying.js";

const [WIDTH, HEIGHT, TOP] = [600, 150, 14];

const legend = (view) => h("ul", { class: "legend" }, view.seats.map((seat) => h("li", { class: `line-${seat.seat}` }, nameOf(view, seat.seat))));

const place = (index, count) => (count > 1 ? (index / (count - 1)) * WIDTH : 0);

/**
 * The size of each hand at each event, with rounds, booms and melds marked.
 *
 * @param {object[]} frames those that are loaded
 * @param {number} total how many there are
 * @param {number[][]} abandoned spans of seqs that do not count
 * @param {(seq: number) => void} seek
 */
export function handChart(view, frames, total, abandoned, seek) {
  const most = Math.max(8, ...frames.flatMap((frame) => frame.view.seats.map((seat) => seat.cards)));
  const x = (seq) => place(seq - 1, total);
  const y = (cards) => HEIGHT - (cards / most) * (HEIGHT - TOP);
  const svg = h("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "chart hands", role: "img",
    "aria-label": t("How many cards each hand holds, event by event"),
    onclick: (event) => {
      const box = event.currentTarget.getBoundingClientRect();
      seek(1 + Math.round(((event.clientX - box.left) / box.width) * (total - 1)));
    },
  });
  for (const [first, last] of abandoned) {
    svg.append(h("rect", { class: "abandoned", x: x(first), y: 0, width: Math.max(2, x(last) - x(first)), height: HEIGHT }));
  }
  for (const { event } of frames) {
    if (event.type === "round_started") svg.append(h("line", { class: "round", x1: x(event.seq), x2: x(event.seq), y1: 0, y2: HEIGHT }));
    if (event.data.outcome?.boom) svg.append(h("line", { class: "boom-mark", x1: x(event.seq), x2: x(event.seq), y1: 0, y2: TOP }));
    if (event.data.move?.type === "meld") svg.append(h("line", { class: "meld-mark", x1: x(event.seq), x2: x(event.seq), y1: HEIGHT - TOP, y2: HEIGHT }));
  }
  for (const { seat } of view.seats) {
    const points = frames.map((frame) => `${x(frame.seq).toFixed(1)},${y(frame.view.seats[seat - 1]?.cards ?? 0).toFixed(1)}`);
    svg.append(h("polyline", { class: `line-${seat}`, points: points.join(" ") }));
  }
  svg.append(h("line", { class: "now", x1: 0, x2: 0, y1: 0, y2: HEIGHT }));
  return h("figure", {}, h("figcaption", {}, t("Cards in hand; marks are rounds, booms and melds")), svg, legend(view));
}

/** Move the mark of the present event. */
export function markNow(root, seq, total) {
  const line = root.querySelector(".chart .now");
  for (const name of ["x1", "x2"]) line?.setAttribute(name, place(seq - 1, total));
}

/** The sum of points of each seat after each round. */
export function scoreChart(view, rounds) {
  if (rounds.length < 2) return null;
  const sums = Object.fromEntries(view.seats.map(({ seat }) => [seat, [0]]));
  for (const { points } of rounds) for (const [seat, list] of Object.entries(sums)) list.push(list.at(-1) + points[seat]);
  const most = Math.max(1, ...Object.values(sums).flat());
  const y = (points) => HEIGHT - (points / most) * (HEIGHT - TOP);
  return h("figure", {}, h("figcaption", {}, t("Points after each round; fewest wins")),
    h("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "chart scores", role: "img", "aria-label": t("Points after each round") },
      Object.entries(sums).map(([seat, list]) => h("polyline", {
        class: `line-${seat}`, points: list.map((points, n) => `${place(n, list.length).toFixed(1)},${y(points).toFixed(1)}`).join(" "),
      }))),
    legend(view));
}
