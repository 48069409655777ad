// Ask: the phases while they go on, the answer while it is written, and what it rests on once it is checked.

import { $, blocks, bytes, command, copied, copyButton, count, isWeb, link, make, place, quoted, say } from "./nodes.js";
import { busy, events, post } from "./talk.js";

const view = $("view-ask");
const PHASES = { WEB_SEARCH: "Search", SCRAPING_URLS: "Read", RERANKING: "Rank", GENERATION: "Write" };
const COUNTS = { results_count: ["result"], scraped_count: ["page"], reranked_count: ["ranked", "ranked"] };
export const SIGNS = { exact: "✓", close: "≈", mismatch: "✗", unsupported: "?" };
const WORDS = { exact: "The page says this.", close: "The page says nearly this.", mismatch: "The page says something else.", unsupported: "The page does not say this." };

let shown = null; // the result on the screen

function clear() {
  shown = null;
  view.classList.remove("fresh");
  for (const id of ["sources", "missed", "ledger", "verdicts", "backends"]) $(id).hidden = true;
  view.querySelector(".result").hidden = true;
  view.querySelector(".actions").hidden = true;
  $("answer").replaceChildren();
  $("phases").hidden = false;
  $("phases").replaceChildren(...Object.entries(PHASES).map(([name, word]) => make("li", { id: `phase-${name}` }, word)));
}

function phase(data) {
  const item = $(`phase-${data.phase}`);
  if (!item) return;
  const counts = Object.entries(COUNTS).filter(([key]) => data.data?.[key] !== undefined).map(([key, words]) => count(data.data[key], ...words));
  const word = PHASES[data.phase];
  item.replaceChildren(word, ...counts.map((text) => make("small", {}, text)));
  item.className = data.status === "completed" ? "done" : "going";
  if (data.status === "started") say(word);
}

const bare = (text) => text.replace(/<web_citation [^>]*>\[\d+\]<\/web_citation>|<source_\d+>/g, "").replace(/\s+/g, " ").trimEnd();

// The verdict of the sentence that stands before a citation.
function verdictOf(result, number, before) {
  const verdicts = result.verdicts.filter((one) => one.source === number);
  const said = bare(before);
  return verdicts.find((one) => said.endsWith(one.claim.replace(/\s+/g, " ").trim())) ?? verdicts[0];
}

function citation(result, number, before) {
  const verdict = verdictOf(result, number, before);
  const mark = make("button", { class: `cite ${verdict?.verdict ?? ""}`, type: "button", "aria-label": `Source ${number}: ${verdict?.verdict ?? "not checked"}` }, String(number));
  mark.addEventListener("click", () => showQuote(number, result.sources.find((one) => one.rank === number), verdict));
  for (const [event, on] of [["mouseenter", true], ["focus", true], ["mouseleave", false], ["blur", false]]) {
    mark.addEventListener(event, () => $(`source-${number}`)?.classList.toggle("lit", on));
  }
  return mark;
}

function showQuote(number, source, verdict) {
  $("quote-title").textContent = `${number} · ${source?.title ?? ""}`;
  $("quote-verdict").textContent = verdict ? `${SIGNS[verdict.verdict] ?? ""} ${WORDS[verdict.verdict] ?? verdict.verdict}${verdict.reason ? ` ${verdict.reason}` : ""}` : "Not checked.";
  $("quote-verdict").className = `verdict ${verdict?.verdict ?? ""}`;
  $("quote-text").replaceChildren(...quoted(verdict?.quote || source?.snippet || ""));
  $("quote-claim").textContent = verdict && bare(verdict.claim) !== bare(verdict.quote ?? "") ? `The answer says: ${verdict.claim}` : "";
  const target = verdict?.link ?? source?.url ?? "";
  const anchor = $("quote-link");
  anchor.hidden = !isWeb(target);
  if (!anchor.hidden) anchor.href = target;
  $("quote").showModal();
}

function sourceCard(result, source) {
  const verdicts = result.verdicts.filter((one) => one.source === source.rank);
  const score = Math.max(0, Math.min(1, source.rerank_score ?? 0));
  return make("li", { id: `source-${source.rank}` },
    make("p", { class: "title" }, make("span", { class: "number" }, String(source.rank)), link(source.url, source.title || source.url)),
    make("p", { class: "where" }, make("span", {}, place(source.url)),
      make("meter", { min: "0", max: "1", value: String(score), "aria-label": `Score of source ${source.rank}`, title: `score ${score.toFixed(2)}` }), score.toFixed(2),
      source.published_at ? make("span", {}, source.published_at.slice(0, 10)) : null,
      source.content_kind === "snippet" ? make("span", { class: "tag" }, "snippet only") : null),
    verdicts.map((one) => make("p", { class: `said ${one.verdict}` }, make("span", { class: "sign", title: one.verdict, role: "img", "aria-label": one.verdict }, SIGNS[one.verdict] ?? ""), make("span", {}, one.quote ? ["“", ...quoted(one.quote), "”"] : one.claim))));
}

function showSources(result) {
  const section = $("sources");
  const [used, rest] = [result.sources.filter((one) => one.used_in_response), result.sources.filter((one) => !one.used_in_response)];
  const [list, more] = [section.querySelector("ol"), section.querySelector("details")];
  section.hidden = result.sources.length === 0;
  list.replaceChildren(...(used.length ? used : rest).map((one) => sourceCard(result, one)));
  more.hidden = !used.length || !rest.length;
  more.querySelector("summary").textContent = `Read and not cited: ${rest.length}`;
  more.querySelector("ol").replaceChildren(...(used.length ? rest : []).map((one) => sourceCard(result, one)));
}

function showMissed(result) {
  const section = $("missed");
  section.hidden = result.not_reached.length === 0;
  section.querySelector("ul").replaceChildren(...result.not_reached.map((gap) => make("li", {},
    make("p", { class: "title" }, link(gap.url, place(gap.url) || gap.url), make("span", { class: "tag bad" }, gap.code)),
    make("p", { class: "quiet" }, gap.reason),
    gap.command ? (gap.command.startsWith("cormorant ") ? command(gap.command) : make("p", { class: "quiet" }, gap.command)) : null)));
}

function showLedger(result) {
  const spent = result.ledger ?? {};
  const rows = [
    ["time", `${(spent.seconds ?? 0).toFixed(1)} s`], ["requests", spent.requests ?? 0], ["read", bytes(spent.bytes ?? 0)], ["tokens", spent.tokens || null],
    ["cost", spent.usd ? `$${spent.usd.toFixed(4)}` : null], ["written by", result.model], ["ranked by", result.reranker],
  ];
  $("ledger").hidden = false;
  $("ledger").replaceChildren(
    ...rows.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(value)))),
    result.response_id ? make("div", {}, make("dt", {}, "kept as"), make("dd", {}, make("code", {}, result.response_id.slice(0, 8)), " ", copyButton(result.response_id))) : "");
}

function showVerdicts(result) {
  const all = result.verdicts.length;
  const held = result.verdicts.filter((one) => ["exact", "close"].includes(one.verdict)).length;
  $("verdicts").hidden = !all;
  $("verdicts").textContent = held === all ? `${count(all, "citation")} checked, ${all === 1 ? "it holds" : "all hold"}` : `${held} of ${count(all, "citation")} hold`;
  say(`Answer complete. ${$("verdicts").textContent}`);
}

export function showResult(result) {
  shown = result;
  view.classList.remove("fresh");
  view.querySelector(".result").hidden = false;
  view.querySelector(".actions").hidden = false;
  $("answer").classList.remove("writing");
  $("answer").replaceChildren(...blocks(result.response, (number, before) => citation(result, number, before)));
  showVerdicts(result);
  showSources(result);
  showMissed(result);
  showLedger(result);
}

function writing(text) {
  view.querySelector(".result").hidden = false;
  $("answer").classList.add("writing");
  $("answer").replaceChildren(...blocks(text.replace(/<(?:s(?:o(?:u(?:r(?:c(?:e(?:_\d*)?)?)?)?)?)?)?$/, ""), (number) => make("span", { class: "cite" }, String(number))));
}

async function ask(signal) {
  const given = new FormData($("ask"));
  const body = { query: given.get("query"), freshness: given.get("freshness") };
  if (given.get("domains").trim()) body.domains = given.get("domains");
  if (given.get("budget").trim()) body.budget = Number(given.get("budget"));
  clear();
  let text = "", ended = false, drawn = false;
  try {
    const reply = await post("v1/answer", body, { headers: { accept: "text/event-stream" }, signal });
    const run = reply.headers.get("x-execution-id");
    for await (const [name, data] of events(reply)) {
      if (name === "tool_update" && data.phase) phase(data);
      if (name === "tool_partial_update") {
        text += data.content;
        if (!drawn) { drawn = true; requestAnimationFrame(() => { drawn = false; if (!ended) writing(text); }); }
      }
      ended ||= name === "tool_end" || name === "error";
      if (name === "tool_end") {
        showResult(data);
        if (run) history.replaceState(null, "", `#run=${run}`);
      }
      if (name === "error") throw data;
    }
    if (!ended) throw new Error("the connection ended before the answer: ask again");
  } catch (error) {
    ended = true;
    $("answer").classList.remove("writing");
    view.querySelectorAll(".phases .going").forEach((item) => { item.className = "stopped"; });
    throw error;
  }
}

// A run that ended, as it was.
export function showRun(record) {
  $("query").value = record.inputs.query ?? "";
  clear();
  $("phases").hidden = true;
  showResult(record.outputs);
}

const plain = (result) => `${bare(result.response.replace(/<web_citation [^>]*>(\[\d+\])<\/web_citation>/g, "$1").replace(/\n/g, "\u2028")).replace(/\s*\u2028\s*/g, "\n")}\n\n${result.sources.filter((one) => one.used_in_response).map((one) => `[${one.rank}] ${one.title} ${one.url}`).join("\n")}\n`;

$("ask").addEventListener("submit", (event) => { event.preventDefault(); history.replaceState(null, "", location.pathname); busy(event.target, ask); });
view.querySelector(".actions").addEventListener("click", (event) => {
  const what = event.target.dataset.copy;
  if (what && shown) copied(event.target, what === "link" ? location.href : plain(shown));
});

const listed = new Intl.ListFormat("en");

// Who would answer, said before anything is asked; a server that wants a key is not asked for it yet.
export async function sayBackends() {
  const reply = await fetch("capabilities");
  if (!reply.ok) return;
  const { version, answers, library } = await reply.json();
  const ready = answers.filter((name) => name !== "library").map((name) => name.replaceAll("_", " "));
  const asked = [typeof library === "string" ? "" : "your indexed pages", ...ready.slice(0, 3), ready.length > 3 ? `${ready.length - 3} more` : ""].filter(Boolean);
  $("version").textContent = version;
  $("backends").textContent = asked.length ? `Searches ${listed.format(asked)}.` : "No search backend is ready: cormorant doctor says why.";
  $("backends").hidden = !view.classList.contains("fresh");
}
