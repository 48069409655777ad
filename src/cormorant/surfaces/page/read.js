// Read: one page at several budgets, side by side.

import { $, copyButton, count, link, make, say } from "./nodes.js";
import { busy, post } from "./talk.js";

function facts(page) {
  const rows = [
    page.status, page.type, `${Math.round(page.coverage * 100)} % of the visible text kept`, page.extract, page.language,
    page.published_at?.slice(0, 10), page.outcome === "content" ? null : page.outcome,
    page.findings.length ? count(page.findings.length, "finding") : null, page.cached ? "from this session's cache" : null,
  ];
  const box = $("page");
  box.hidden = false;
  box.replaceChildren(make("div", { class: "name" }, page.title || page.final_url),
    make("div", { class: "where" }, link(page.final_url, page.final_url), rows.filter(Boolean).map((text) => make("span", { class: "tag" }, String(text)))),
    ...page.warnings.map((text) => make("p", { class: "quiet" }, text)));
}

function card(budget, page) {
  const fit = page.fit ?? {};
  const name = `${budget.toLocaleString()} tokens`;
  return make("section", { "aria-label": name },
    make("h2", {}, name, copyButton(page.content)),
    make("meter", { min: "0", max: String(fit.page_tokens || 1), value: String(fit.tokens ?? 0), "aria-label": `Tokens at ${name}` }),
    make("p", { class: "quiet" }, make("strong", {}, fit.view ?? ""), ` · ${(fit.tokens ?? 0).toLocaleString()} of ${(fit.page_tokens ?? 0).toLocaleString()} tokens (${fit.counter})`),
    fit.left_out ? make("p", { class: "quiet" }, `left out: ${fit.left_out}`) : null,
    fit.hint ? make("p", { class: "quiet" }, "more: ", make("code", {}, fit.hint)) : null,
    make("pre", { tabindex: "0", "aria-label": `Text at ${name}` }, page.content));
}

async function read(signal) {
  const given = new FormData($("read"));
  const budgets = [...new Set(given.get("budgets").split(/[\s,]+/).map(Number).filter((n) => n > 0))].slice(0, 6);
  const asked = { url: given.get("url"), query: given.get("query").trim() || undefined, view: given.get("view") || undefined };
  const waiting = budgets.map((budget) => make("section", { "aria-hidden": "true" }, make("h2", {}, `${budget.toLocaleString()} tokens`), make("div", { class: "waiting" })));
  $("view-read").querySelector(".empty").hidden = true;
  $("page").hidden = true;
  $("views").replaceChildren(...waiting);
  say("Reading");
  try {
    for (const [n, budget] of budgets.entries()) {
      const page = await (await post("v1/fetch", { ...asked, budget }, { signal })).json();
      if (n === 0) facts(page);
      waiting[n].replaceWith(card(budget, page));
    }
    say(`${count(budgets.length, "view")} of the page`);
  } finally {
    waiting.forEach((one) => one.remove());
  }
}

$("read").addEventListener("submit", (event) => { event.preventDefault(); busy(event.target, read); });
