// The page talks to the same routes as everybody. Text of pages and models only ever becomes text nodes.

const $ = (id) => document.getElementById(id);
const make = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== undefined && child !== null));
  return node;
};
// Only web addresses become links: a javascript: or data: address stays text.
const link = (url, text) => /^https?:\/\//i.test(url) ? make("a", { href: url, rel: "noreferrer noopener", target: "_blank" }, text) : make("span", {}, text);

// -- talking to the server ------------------------------------------------------------------------------------------

function keyHeaders() {
  const key = sessionStorage.getItem("key");
  return key ? { "x-api-key": key } : {};
}

function askForKey() {
  const dialog = $("key");
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", () => {
    sessionStorage.setItem("key", new FormData($("key-form")).get("key"));
    done();
  }, { once: true }));
}

async function call(path, options = {}) {
  const reply = await fetch(path, { ...options, headers: { "content-type": "application/json", ...keyHeaders(), ...options.headers } });
  if (reply.status === 401) {
    await askForKey();
    return call(path, options);
  }
  if (!reply.ok) throw await reply.json();
  return reply;
}

const json = async (path, options) => (await call(path, options)).json();
const post = (path, body, headers) => call(path, { method: "POST", body: JSON.stringify(body), headers });

// Server-sent events of a reply, chunks of large ones joined.
async function* events(reply) {
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

function trouble(error) {
  const box = $("trouble");
  box.hidden = !error;
  if (!error) return;
  box.textContent = error.code ? `${error.code}: ${error.message}${error.hint ? ` (${error.hint})` : ""}` : String(error);
}

async function busy(form, work) {
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  trouble(null);
  try { await work(); } catch (error) { trouble(error); } finally { button.disabled = false; }
}

// -- ask ------------------------------------------------------------------------------------------------------------

const PHASES = { WEB_SEARCH: "Search", SCRAPING_URLS: "Read", RERANKING: "Rank", GENERATION: "Write" };
const COUNTS = { results_count: "results", scraped_count: "pages read", reranked_count: "ranked" };

function phase(data) {
  const list = $("phases");
  const id = `phase-${data.phase}`;
  const item = $(id) ?? list.appendChild(make("li", { id }));
  const counts = Object.entries(COUNTS).filter(([key]) => data.data?.[key] !== undefined).map(([key, word]) => `${data.data[key]} ${word}`);
  item.textContent = [PHASES[data.phase] ?? data.phase, ...counts].join(" · ");
  item.className = data.status === "completed" ? "done" : "going";
}

function verdictOf(result, number, before) {
  const verdicts = result.verdicts.filter((one) => one.source === number);
  return verdicts.find((one) => before.replace(/\s+/g, " ").trimEnd().endsWith(one.claim.replace(/\s+/g, " ").trim())) ?? verdicts[0];
}

function citation(result, number, before) {
  const source = result.sources.find((one) => one.rank === number);
  const verdict = verdictOf(result, number, before);
  const mark = make("button", { class: `cite ${verdict?.verdict ?? ""}`, type: "button", "aria-label": `Source ${number}: ${verdict?.verdict ?? "not checked"}` }, `[${number}]`);
  mark.addEventListener("click", () => showQuote(number, source, verdict));
  return mark;
}

function showQuote(number, source, verdict) {
  $("quote-title").textContent = `[${number}] ${source?.title ?? ""}`;
  $("quote-verdict").textContent = verdict ? `${verdict.verdict}${verdict.reason ? `: ${verdict.reason}` : ""}` : "not checked";
  $("quote-verdict").className = verdict?.verdict ?? "";
  $("quote-text").textContent = verdict?.quote || source?.snippet || "";
  const target = verdict?.link ?? source?.url ?? "";
  const anchor = $("quote-link");
  anchor.hidden = !/^https?:/i.test(target);
  if (!anchor.hidden) anchor.href = target;
  $("quote").showModal();
}

// The answer's Markdown of a line: `code`, **strong**, *emphasis*. Everything else stays as it was written, and all of it
// becomes text nodes inside elements made here.
const INLINE = /(`+)(?!`)([\s\S]*?[^`])\1(?!`)|\*\*(?=\S)([\s\S]*?\S)\*\*|\*(?=[^\s*])([^*\n]*?[^\s*])\*(?![\w*])/g;

function inline(text) {
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, strong, em] = match;
    if (em !== undefined && /\w/.test(text[match.index - 1] ?? "")) continue;
    nodes.push(text.slice(at, match.index));
    if (code !== undefined) nodes.push(make("code", {}, code.replace(/^ (.*) $/, "$1")));
    else nodes.push(strong !== undefined ? make("strong", {}, ...inline(strong)) : make("em", {}, em));
    at = match.index + whole.length;
  }
  return [...nodes, text.slice(at)].filter((node) => node !== "");
}

function showAnswer(result) {
  const box = $("answer");
  box.hidden = false;
  box.replaceChildren();
  const tag = /<web_citation [^>]*>\[(\d+)\]<\/web_citation>|<source_(\d+)>/g;
  let at = 0;
  for (const match of result.response.matchAll(tag)) {
    box.append(...inline(result.response.slice(at, match.index)), citation(result, Number(match[1] ?? match[2]), result.response.slice(0, match.index).replace(tag, "")));
    at = match.index + match[0].length;
  }
  box.append(...inline(result.response.slice(at)));
}

function showSources(result) {
  const section = $("sources");
  section.hidden = result.sources.length === 0;
  section.querySelector("ol").replaceChildren(...result.sources.map((source) => {
    const verdicts = result.verdicts.filter((one) => one.source === source.rank);
    return make("li", { class: source.used_in_response ? "" : "unused" },
      make("strong", {}, `[${source.rank}] `), link(source.url, source.title || source.url),
      make("p", { class: "quiet" }, `${source.url} · score ${source.rerank_score.toFixed(2)}${source.content_kind === "snippet" ? " · snippet only" : ""}`),
      ...verdicts.map((one) => make("p", {}, make("span", { class: one.verdict }, `${one.verdict}: `), one.quote ? `“${one.quote}”` : one.claim)));
  }));
}

function showMissed(result) {
  const section = $("missed");
  section.hidden = result.not_reached.length === 0;
  section.querySelector("ul").replaceChildren(...result.not_reached.map((gap) =>
    make("li", {}, link(gap.url, gap.url), ` ${gap.code}: ${gap.reason}`, gap.command ? make("p", { class: "quiet" }, gap.command) : null)));
}

function showLedger(result) {
  const spent = result.ledger;
  const box = $("ledger");
  box.hidden = false;
  box.textContent = `Spent: ${spent.requests ?? 0} requests, ${(spent.bytes ?? 0).toLocaleString()} bytes, ${(spent.seconds ?? 0).toFixed(1)} s · ${result.model} · ${result.reranker} · ${result.response_id}`;
}

function showResult(result) {
  showAnswer(result);
  showSources(result);
  showMissed(result);
  showLedger(result);
}

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = new FormData(event.target);
  const body = { query: given.get("query"), freshness: given.get("freshness") };
  if (given.get("domains").trim()) body.domains = given.get("domains");
  for (const id of ["answer", "sources", "missed", "ledger"]) $(id).hidden = true;
  $("phases").replaceChildren();
  busy(event.target, async () => {
    const reply = await post("v1/answer", body, { accept: "text/event-stream" });
    let text = "", ended = false;
    for await (const [name, data] of events(reply)) {
      if (name === "tool_update" && data.phase) phase(data);
      if (name === "tool_partial_update") {
        text += data.content;
        $("answer").hidden = false;
        $("answer").replaceChildren(...inline(text.replace(/<source_(\d+)>/g, "[$1]")));
      }
      ended ||= name === "tool_end" || name === "error";
      if (name === "tool_end") showResult(data);
      if (name === "error") throw data;
    }
    if (!ended) throw new Error("the connection ended before the answer: ask again");
  });
});

// -- read -----------------------------------------------------------------------------------------------------------

function viewCard(budget, page) {
  const fit = page.fit ?? {};
  return make("section", {},
    make("h2", {}, `${budget.toLocaleString()} tokens`),
    make("p", { class: "quiet" }, `${fit.view}: ${fit.tokens} of ${fit.page_tokens} tokens (${fit.counter})`),
    fit.left_out ? make("p", { class: "quiet" }, `left out: ${fit.left_out}`) : null,
    fit.hint ? make("p", { class: "quiet" }, `more: ${fit.hint}`) : null,
    make("pre", { tabindex: "0", "aria-label": `Text at ${budget} tokens` }, page.content));
}

$("read").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = new FormData(event.target);
  const budgets = given.get("budgets").split(/[\s,]+/).map(Number).filter((n) => n > 0).slice(0, 6);
  $("views").replaceChildren();
  busy(event.target, async () => {
    const query = given.get("query").trim() || undefined;
    for (const budget of budgets) {
      const page = await (await post("v1/fetch", { url: given.get("url"), budget, query })).json();
      $("views").append(viewCard(budget, page));
    }
  });
});

// -- runs -----------------------------------------------------------------------------------------------------------

async function listRuns() {
  trouble(null);
  const { executions } = await json("v1/executions");
  $("runs").replaceChildren(...executions.map((run) => {
    const what = run.inputs.query ?? run.inputs.url ?? (run.inputs.urls ?? run.inputs.queries ?? []).join(", ");
    const card = make("li", {}, make("strong", {}, `${run.tool} `), what ?? "", make("p", { class: "quiet" }, `${run.status} · ${run.created_at} · ${run.id}`));
    const open = make("button", { type: "button" }, "Open");
    open.addEventListener("click", async () => {
      const record = await json(`v1/executions/${run.id}`);
      card.querySelector("pre")?.remove();
      card.append(make("pre", { tabindex: "0", "aria-label": "Record" }, JSON.stringify(record.outputs ?? record.error, null, 1)));
    });
    card.append(open);
    return card;
  }));
  if (!executions.length) $("runs").append(make("li", {}, "No runs yet: ask something."));
}

// -- tabs, by mouse and by arrow keys (WAI-ARIA Authoring Practices, tabs) ---------------------------------------------

const tabs = [...document.querySelectorAll("[role=tab]")];
function select(tab, focus) {
  for (const one of tabs) {
    const chosen = one === tab;
    one.setAttribute("aria-selected", chosen);
    one.tabIndex = chosen ? 0 : -1;
    $(one.getAttribute("aria-controls")).hidden = !chosen;
  }
  if (focus) tab.focus();
  if (tab.id === "tab-runs") listRuns().catch(trouble);
}
tabs.forEach((tab, n) => {
  tab.addEventListener("click", () => select(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) select(tabs[(n + step + tabs.length) % tabs.length], true);
  });
});
