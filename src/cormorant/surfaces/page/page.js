// The frame: views by mouse, keys and address; colours; single keys. A link only ever shows what is kept: it asks nothing.

import { $ } from "./nodes.js";
import { json, stop, trouble } from "./talk.js";
import { sayBackends, showRun } from "./ask.js";
import { listRuns, openRun } from "./history.js";
import "./read.js";

// -- views (WAI-ARIA Authoring Practices, tabs) ---------------------------------------------------------------------------

const tabs = [...document.querySelectorAll("[role=tab]")];
const FIELDS = { "tab-ask": "query", "tab-read": "url", "tab-runs": "response" };
const chosen = () => tabs.find((tab) => tab.getAttribute("aria-selected") === "true");

function select(tab, focus) {
  for (const one of tabs) {
    one.setAttribute("aria-selected", one === tab);
    one.tabIndex = one === tab ? 0 : -1;
    $(one.getAttribute("aria-controls")).hidden = one !== tab;
  }
  if (focus) tab.focus();
  if (tab.id === "tab-runs") listRuns().catch((error) => trouble($("view-runs"), error));
}
tabs.forEach((tab, n) => {
  tab.addEventListener("click", () => select(tab));
  tab.addEventListener("keydown", (event) => {
    const to = { ArrowRight: n + 1, ArrowLeft: n - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to !== undefined) { event.preventDefault(); select(tabs[(to + tabs.length) % tabs.length], true); }
  });
});

// -- addresses: #run=ID shows a run, #get=ID a stored result, #q=TEXT fills the question in ------------------------------------

async function route() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has("q")) $("query").value = given.get("q");
  if (given.has("get")) { select($("tab-runs")); $("response").value = given.get("get"); $("stored").requestSubmit(); }
  if (!given.has("run")) return;
  const record = await json(`v1/executions/${encodeURIComponent(given.get("run"))}`);
  const answered = record.tool === "web_answer" && record.outputs;
  select(answered ? $("tab-ask") : $("tab-runs"));
  if (answered) showRun(record); else openRun(record);
}
const routed = () => route().catch((error) => { select($("tab-runs")); trouble($("view-runs"), error); });
addEventListener("hashchange", routed);

// -- colours and keys -----------------------------------------------------------------------------------------------------

const COLOURS = { "": ["as the system", "◐"], light: ["light", "○"], dark: ["dark", "●"] };
function colour(name) {
  document.documentElement.dataset.theme = name;
  localStorage.setItem("theme", name);
  const [word, sign] = COLOURS[name];
  $("theme").textContent = sign;
  $("theme").title = `Colours: ${word}`;
  $("theme").setAttribute("aria-label", `Colours: ${word}`);
}
colour(COLOURS[localStorage.getItem("theme")] ? localStorage.getItem("theme") : "");
$("theme").addEventListener("click", () => {
  const names = Object.keys(COLOURS);
  colour(names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length]);
});

$("single-keys").checked = localStorage.getItem("single-keys") !== "off";
$("single-keys").addEventListener("change", (event) => localStorage.setItem("single-keys", event.target.checked ? "on" : "off"));
$("help").addEventListener("click", () => $("keys").showModal());
document.querySelectorAll(".stop").forEach((button) => button.addEventListener("click", stop));
addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") return stop();
  const typing = event.target.closest("input, select, textarea, [contenteditable]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !$("single-keys").checked) return;
  if (event.key === "/") { event.preventDefault(); $(FIELDS[chosen().id]).focus(); }
  if (event.key === "?") $("keys").showModal();
  if ("123".includes(event.key)) select(tabs[Number(event.key) - 1], true);
});

sayBackends().catch(() => {});
routed();
