/** Elements without a framework: `h` makes them, `render` puts them in place and keeps the focus. */

const SVG = "http://www.w3.org/2000/svg";
const TYPED = "input[data-key], textarea[data-key], select[data-key]";
const SVG_NAMES = new Set(["svg", "path", "rect", "circle", "line", "polyline", "text", "g", "title"]);

/**
 * An element.
 *
 * @param {string} name its tag; those of SVG are made in its namespace
 * @param {object} props attributes; `on…` are listeners, `style` is an object of custom properties
 * @param {...(Node|string|null|false|Array)} children nothing comes of null, undefined and false
 */
export function h(name, props = {}, ...children) {
  const element = SVG_NAMES.has(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [rule, to] of Object.entries(value)) element.style.setProperty(rule, to);
    else if (key === "value") setDefault(element, value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** What a control holds unless somebody types: what was typed is told from it. */
function setDefault(element, value) {
  if ("defaultValue" in element) element.defaultValue = value;
  element.value = value;
}

const isTyped = (control) => (control.localName === "select"
  ? control.selectedIndex !== Math.max(0, [...control.options].findIndex((one) => one.defaultSelected))
  : control.value !== control.defaultValue || control.checked !== control.defaultChecked);

function append(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child);
  }
}

/**
 * Put the children in the place of what is there.
 *
 * By their `data-key` what had the focus has it again, what was open is open, and what was typed
 * stands there still. Where what had the focus is gone, what is marked by `data-next` has it.
 */
export function render(parent, ...children) {
  const active = document.activeElement;
  const hadFocus = parent.contains(active);
  const key = hadFocus ? active.closest("[data-key]")?.dataset.key : undefined;
  const caret = key && active.type === "text" ? active.selectionStart : null;
  const typed = new Map([...parent.querySelectorAll(TYPED)].filter(isTyped).map((one) => [one.dataset.key, [one.value, one.checked]]));
  const scrolled = [...parent.querySelectorAll("[data-scroll]")].map((one) => [one.dataset.scroll, one.scrollTop]);
  const open = new Set([...parent.querySelectorAll("details[open][data-key]")].map((one) => one.dataset.key));
  const fragment = document.createDocumentFragment();
  append(fragment, children);
  parent.replaceChildren(fragment);
  for (const details of parent.querySelectorAll("details[data-key]")) {
    if (open.has(details.dataset.key)) details.open = true;
  }
  for (const control of parent.querySelectorAll(TYPED)) {
    const before = typed.get(control.dataset.key);
    if (before) [control.value, control.checked] = before;
  }
  for (const [place, top] of scrolled) {
    const again = parent.querySelector(`[data-scroll="${place}"]`);
    if (again) again.scrollTop = top;
  }
  if (!hadFocus) return;
  const again = key && parent.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const found = again?.localName === "details" ? again.querySelector("summary") : again;
  (found ?? parent.querySelector("[data-next]"))?.focus({ preventScroll: true });
  if (caret !== null) again?.setSelectionRange?.(caret, caret);
}

/** A button; `key` keeps its focus over a rendering. */
export function button(label, onclick, props = {}) {
  return h("button", { type: "button", onclick, "data-key": props["data-key"] ?? label, ...props }, label);
}

let numbers = 0;

/** A form's control with its label, and its hint if it has one. */
export function field(label, control, hint = null) {
  control.id ||= `control-${(numbers += 1)}`;
  control.dataset.key ??= `field-${label}`;
  const described = hint ? `${control.id}-hint` : null;
  if (described) control.setAttribute("aria-describedby", described);
  return h("div", { class: "field" },
    h("label", { for: control.id }, label), control,
    hint && h("small", { id: described }, hint));
}

/** A select of values and their labels. */
export function select(options, chosen, props = {}) {
  const element = h("select", props);
  for (const [value, label] of options) {
    element.append(h("option", { value, selected: String(value) === String(chosen) }, label));
  }
  return element;
}

export const sleep = (ms) => new Promise((done) => { setTimeout(done, ms); });
