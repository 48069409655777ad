// History: the runs of this server, and stored results by their id.

import { $, copyButton, make, say } from "./nodes.js";
import { busy, json, post, trouble } from "./talk.js";

const view = $("view-runs");
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
let next = null;

const seconds = (run) => run.started_at && run.completed_at ? `${((new Date(run.completed_at) - new Date(run.started_at)) / 1000).toFixed(1)} s` : run.status;

function row(run) {
  const what = run.inputs.query ?? run.inputs.question ?? run.inputs.url ?? (run.inputs.urls ?? run.inputs.queries ?? []).join(", ");
  const open = make("button", { type: "button", class: "row" },
    make("span", { class: `dot ${run.status}`, role: "img", "aria-label": run.status }), make("span", { class: "tag" }, run.tool.replace(/^web_/, "")),
    make("span", { class: "what" }, String(what ?? "")), make("span", { class: "when" }, `${day.format(new Date(run.created_at))} · ${seconds(run)}`));
  open.addEventListener("click", () => {
    if (location.hash === `#run=${run.id}`) dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = `run=${run.id}`;
  });
  return make("li", {}, open);
}

export async function listRuns(more = false) {
  trouble(view, null);
  const page = await json(`v1/executions?count=30${more && next ? `&before=${encodeURIComponent(next)}` : ""}`);
  const rows = page.executions.map(row);
  if (more) $("runs").append(...rows); else $("runs").replaceChildren(...rows);
  next = page.next;
  $("older").hidden = !next;
  if (!$("runs").children.length) $("runs").append(make("li", { class: "none" }, "No runs yet. What is asked here, or started over HTTP, is listed with what it brought."));
}

// Whatever a run brought or a store holds, as text.
export function open(title, text, id) {
  const box = $("opened");
  box.hidden = false;
  box.replaceChildren(make("h2", {}, make("span", {}, title), copyButton(text)), id ? make("p", { class: "quiet" }, make("code", {}, id)) : "", make("pre", { tabindex: "0", "aria-label": "Text" }, text));
  box.scrollIntoView({ block: "nearest" });
  say(`Opened ${title}`);
}

export function openRun(record) {
  const what = record.outputs ?? record.error ?? { status: record.status };
  const text = what.content ?? what.answer ?? JSON.stringify(what, null, 1);
  open(what.title || record.inputs.query || record.inputs.url || record.tool, text, record.id);
}

$("stored").addEventListener("submit", (event) => {
  event.preventDefault();
  busy(event.target, async (signal) => {
    const id = $("response").value.trim();
    const held = await (await post("v1/get", { response_id: id }, { signal })).json();
    open(held.title || held.query || held.kind, held.content, id);
    history.replaceState(null, "", `#get=${id}`);
  });
});
$("again").addEventListener("click", () => listRuns().catch((error) => trouble(view, error)));
$("older").addEventListener("click", () => listRuns(true).catch((error) => trouble(view, error)));
