/** Calls to the service: with a key, retried until they are answered, and streams that resume. */

import { sleep } from "./dom.js";
import { language, t } from "./i18n.js";

const QUIET_MS = 40_000;
const MOST_WAIT_SECONDS = 30;
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const AGAIN = new Set([429, 502, 503, 504]);

/** A refusal of the service: its status, and the problem as data. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? t("The service answered {status}.", { status }));
    this.status = status;
    this.code = body?.code ?? "";
    this.body = body ?? {};
  }
}

const KEY = /^fd_[a-z]{2}_[0-9A-Za-z]+$/;

/** Whether it looks like a key: nothing else is ever sent as one. */
export const isKey = (text) => KEY.test(text ?? "");

const kept = (text) => (isKey(text) ? text : null);

/** The player's key in this browser. */
export const account = {
  get token() { return kept(localStorage.getItem("key")); },
  set token(token) { if (token) localStorage.setItem("key", token); else localStorage.removeItem("key"); },
};

/** The admin's key: for this tab, and no longer. */
export const desk = {
  get token() { return kept(sessionStorage.getItem("admin-key")); },
  set token(token) { if (token) sessionStorage.setItem("admin-key", token); else sessionStorage.removeItem("admin-key"); },
};

/** Whoever wants to know whether the service is out of reach: called with true or false. */
export const reach = { told: () => {} };

function headersOf(token, more) {
  const headers = { "Accept-Language": language, ...more };
  if (token) headers.Authorization = `Bearer ${token}`;
  return headers;
}

/** A key that no other request has; works without a secure context, too. */
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function problemOf(answer) {
  let body = null;
  try { body = await answer.json(); } catch { /* it was no JSON */ }
  return new Problem(answer.status, body);
}

/**
 * Ask the service, again and again while it is out of reach: each try carries the same key.
 *
 * @returns {Promise<object|null>} the JSON that it answers
 * @throws {Problem} for a refusal
 */
export async function call(method, path, { body, token = account.token, headers = {}, key, text = false } = {}) {
  const sent = { method, cache: "no-store", headers: headersOf(token, headers) };
  if (body !== undefined) {
    sent.headers["Content-Type"] ??= "application/json";
    sent.body = typeof body === "string" ? body : JSON.stringify(body);
  }
  if (key) sent.headers["Idempotency-Key"] = key;
  const mayRepeat = method === "GET" || method === "PUT" || method === "DELETE" || Boolean(key);
  for (let tries = 0; ; tries += 1) {
    let answer = null;
    try {
      answer = await fetch(path, sent);
    } catch {
      reach.told(false);
      if (!mayRepeat) throw new Problem(0, { detail: t("The service is out of reach: trying again.") });
    }
    if (answer && !AGAIN.has(answer.status)) {
      reach.told(true);
      if (!answer.ok) throw await problemOf(answer);
      if (answer.status === 204) return null;
      return text ? answer.text() : answer.json();
    }
    if (answer && (!mayRepeat || tries >= RETRY_MS.length)) throw await problemOf(answer);
    reach.told(false);
    const asked = Math.min(Number(answer?.headers.get("Retry-After")) || 0, MOST_WAIT_SECONDS) * 1000;
    await sleep(Math.max(asked, RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]));
  }
}

export const get = (path, options) => call("GET", path, options);

/** A write that is safe to repeat. */
export const post = (path, body = {}, options = {}) => call("POST", path, { body, key: freshKey(), ...options });

/**
 * Follow a stream for as long as the page lives: it resumes after what was taken.
 *
 * @param {string} path of the stream
 * @param {(type: string, data: object) => void} take
 * @param {(state: "live"|"away"|"ended"|"refused") => void} tell
 */
export function follow(path, take, tell = () => {}) {
  let last = null;
  let stopped = false;
  let hangUp = () => {};
  let waited = 0;

  const once = async () => {
    const controller = new AbortController();
    hangUp = () => controller.abort();
    const headers = headersOf(account.token, { Accept: "text/event-stream" });
    if (last !== null) headers["Last-Event-ID"] = last;
    let watch = setTimeout(hangUp, QUIET_MS);
    try {
      const answer = await fetch(path, { headers, cache: "no-store", signal: controller.signal });
      if (answer.status === 204) return "ended";
      if (!answer.ok) return answer.status === 429 || answer.status >= 500 ? "away" : "refused";
      waited = 0;
      tell("live");
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let kept = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return "away";
        clearTimeout(watch);
        watch = setTimeout(hangUp, QUIET_MS);
        const parts = (kept + value).split("\n\n");
        kept = parts.pop();
        for (const part of parts) {
          const { id, type, data } = read(part);
          if (id !== null) last = id;
          try {
            if (data !== null || type === "end") take(type, data);
          } catch (error) {
            reportError(error);
          }
          if (type === "end") return "ended";
        }
      }
    } catch {
      return "away";
    } finally {
      clearTimeout(watch);
    }
  };

  const run = async () => {
    while (!stopped) {
      const state = await once();
      if (stopped) return;
      tell(state);
      if (state === "ended" || state === "refused") return;
      const pause = RETRY_MS[Math.min(waited, RETRY_MS.length - 1)];
      waited += 1;
      const rested = new AbortController();
      await Promise.race([sleep(pause), new Promise((done) => { addEventListener("online", done, { once: true, signal: rested.signal }); })]);
      rested.abort();
    }
  };
  run();
  const offline = () => hangUp();
  addEventListener("offline", offline);
  return () => { stopped = true; removeEventListener("offline", offline); hangUp(); };
}

/** One part of an event stream: its id, its type, its data; null where it has none. */
function read(part) {
  const found = { id: null, type: "message", data: null };
  for (const line of part.split("\n")) {
    const at = line.indexOf(":");
    if (at < 1) continue;
    const value = line.slice(at + 1).replace(/^ /, "");
    const name = line.slice(0, at);
    if (name === "id") found.id = value;
    else if (name === "event") found.type = value;
    else if (name === "data") found.data = (found.data ?? "") + value;
  }
  if (found.data !== null && found.data !== "") found.data = JSON.parse(found.data);
  return found;
}
