/** Cards that are dragged, by mouse, pen or finger; whoever has none of them presses instead. */

const FAR = 8;

/**
 * Follow a press until it is let go; a short one stays a press.
 *
 * @param {PointerEvent} event the press
 * @param {(place: string) => void} drop called with `data-drop` of where it was let go
 */
export function drag(event, drop) {
  if (event.button !== 0) return;
  const source = event.currentTarget;
  const [x, y] = [event.clientX, event.clientY];
  let ghost = null;
  const under = (at) => document.elementFromPoint(at.clientX, at.clientY)?.closest("[data-drop]") ?? null;
  let over = null;

  const move = (at) => {
    if (!ghost && Math.hypot(at.clientX - x, at.clientY - y) < FAR) return;
    if (!ghost) {
      ghost = source.cloneNode(true);
      ghost.removeAttribute("data-key");
      ghost.classList.add("ghost");
      ghost.style.setProperty("width", `${source.getBoundingClientRect().width}px`);
      document.body.append(ghost);
      source.classList.add("dragged");
    }
    ghost.style.setProperty("translate", `${at.clientX}px ${at.clientY}px`);
    const place = under(at);
    if (place !== over) {
      over?.classList.remove("over");
      place?.classList.add("over");
      over = place;
    }
    at.preventDefault();
  };
  const end = (at) => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", end);
    removeEventListener("pointercancel", end);
    if (!ghost) return;
    ghost.remove();
    source.classList.remove("dragged");
    over?.classList.remove("over");
    const swallow = (click) => { click.stopPropagation(); click.preventDefault(); };
    addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", swallow, { capture: true }), 0);
    const place = at.type === "pointerup" ? under(at) : null;
    if (place) drop(place.dataset.drop);
  };
  addEventListener("pointermove", move, { passive: false });
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
}
