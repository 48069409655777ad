// The routes everybody else uses too: JSON at once, or server-sent events with the chunks of large ones joined.

import { $, command, make } from "./nodes.js";

function keyHeaders() {
  const key = sessionStorage.getItem("key");
  return key ? { "x-api-key": key } : {};
}

function askForKey() {
  const dialog = $("key");
  if (!dialog.open) dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", () => {
    sessionStorage.setItem("key", new FormData($("key-form")).get("key"));
    done();
  }, { once: true }));
}

export async function call(path, options = {}) {
  const reply = await fetch(path, { ...options, headers: { "content-type": "application/json", ...keyHeaders(), ...options.headers } });
  if (reply.status === 401) {
    await askForKey();
    return call(path, options);
  }
  if (!reply.ok) throw await reply.json();
  return reply;
}

export const json = async (path, options) => (await call(path, options)).json();
export const post = (path, body, options = {}) => call(path, { ...options, method: "POST", body: JSON.stringify(body) });

export async function* events(reply) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  const parts = new Map();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const frames = (rest + value).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      const fields = frame.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).replace(/^ /, "")]);
      const name = fields.find(([key]) => key === "event")?.[1];
      if (!name) continue;
      const data = JSON.parse(fields.filter(([key]) => key === "data").map(([, text]) => text).join("\n"));
      if (!name.endsWith("_delta_sse")) { yield [name, data]; continue; }
      const seen = parts.get(data.chunk_id) ?? new Map();
      parts.set(data.chunk_id, seen.set(data.chunk_index, data.chunk_data));
      if (seen.size === data.total_chunks) {
        parts.delete(data.chunk_id);
        yield [data.original_event_type, JSON.parse([...seen].sort((a, b) => a[0] - b[0]).map(([, text]) => text).join(""))];
      }
    }
  }
}

// -- what went wrong, where it was asked -------------------------------------------------------------------------------------

export function trouble(view, error) {
  const box = view.querySelector(".trouble");
  box.hidden = !error;
  box.replaceChildren();
  if (!error) return;
  const stopped = error.name === "AbortError" || error.code === "cancelled";
  box.classList.toggle("calm", stopped);
  if (stopped) { box.append(make("p", { class: "title" }, "Stopped.")); return; }
  const lost = error instanceof TypeError ? "the server does not answer: is it still running?" : error.message ?? String(error);
  box.append(make("p", { class: "title" }, error.code ? make("span", { class: "tag bad" }, error.code) : null, make("span", {}, lost)));
  if (!error.hint) return;
  const typed = /^cormorant [^;,]+$/.test(error.hint);
  box.append(typed ? command(error.hint) : make("p", { class: "quiet" }, error.hint));
}

// One piece of work of a form: its button waits, Stop and Esc end it, what it throws is shown.
let running = null;
export const stop = () => running?.abort();

export async function busy(form, work) {
  running?.abort();
  const mine = running = new AbortController();
  const view = form.closest("[role=tabpanel]");
  const [go, halt] = [form.querySelector("[type=submit]"), form.querySelector(".stop")];
  const swap = (on) => { if (halt) { go.hidden = on; halt.hidden = !on; } else go.disabled = on; };
  swap(true);
  trouble(view, null);
  view.setAttribute("aria-busy", "true");
  try { await work(mine.signal); } catch (error) { if (running === mine) trouble(view, error); } finally {
    if (running === mine) { running = null; swap(false); view.removeAttribute("aria-busy"); }
  }
}
