// Elements, and text that stays text: what pages and models say only ever becomes text nodes inside elements made here.

export const $ = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined && value !== null) node.setAttribute(name, value);
  node.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== ""));
  return node;
}

// Only web addresses become links: a javascript: or data: address stays text.
export const isWeb = (url) => /^https?:\/\//i.test(url ?? "");
export const link = (url, text) => isWeb(url) ? make("a", { href: url, rel: "noreferrer noopener", target: "_blank" }, text) : make("span", {}, text);

export function place(url) {
  if (!isWeb(url)) return (url ?? "").split("/").slice(-2).join("/");
  try { return new URL(url).host.replace(/^www\./, ""); } catch { return url; }
}

export const count = (number, one, many = `${one}s`) => `${number.toLocaleString()} ${number === 1 ? one : many}`;
export const bytes = (n) => n < 1024 ? `${n} B` : n < 1024 ** 2 ? `${(n / 1024).toFixed(1)} kB` : `${(n / 1024 ** 2).toFixed(1)} MB`;

export function copyButton(text, label = "Copy") {
  const button = make("button", { type: "button", class: "copy" }, label);
  button.addEventListener("click", () => copied(button, text));
  return button;
}

export async function copied(button, text) {
  const label = button.textContent;
  try { await navigator.clipboard.writeText(text); say("Copied"); } catch { return say("The browser did not let me copy"); }
  button.textContent = "Copied";
  button.classList.add("done");
  setTimeout(() => { button.textContent = label; button.classList.remove("done"); }, 1400);
}

// What a screen reader hears; nobody sees it.
export const say = (text) => { $("status").textContent = text; };

export const command = (text) => make("div", { class: "command" }, make("code", { tabindex: "0" }, text), copyButton(text));

// -- Markdown, as much of it as an answer has -------------------------------------------------------------------------------

const INLINE = /(`+)(?!`)([\s\S]*?[^`])\1(?!`)|\*\*(?=\S)([\s\S]*?\S)\*\*|\*(?=[^\s*])([^*\n]*?[^\s*])\*(?![\w*])|<web_citation [^>]*>\[(\d+)\]<\/web_citation>|<source_(\d+)>/g;

// `code`, **strong**, *emphasis* and citations of a line; `cite(number, before)` makes the node of a citation.
export function inline(text, cite, before = "") {
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, strong, em, cited, streamed] = match;
    if (em !== undefined && /\w/.test(text[match.index - 1] ?? "")) continue;
    const between = text.slice(at, match.index);
    const word = cited ?? streamed ? /\S{0,24}\s?$/.exec(between)[0] : "";  // a citation stays with the word before it
    nodes.push(between.slice(0, between.length - word.length));
    if (code !== undefined) nodes.push(make("code", {}, code.replace(/^ (.*) $/, "$1")));
    else if (strong !== undefined) nodes.push(make("strong", {}, inline(strong, cite)));
    else if (em !== undefined) nodes.push(make("em", {}, em));
    else nodes.push(make("span", { class: "tied" }, word, cite(Number(cited ?? streamed), before + text.slice(0, match.index))));
    at = match.index + whole.length;
  }
  return [...nodes, text.slice(at)].filter((node) => node !== "");
}

// A quote of a page's Markdown as a person reads it: code as code, a row of a table without its bars.
export const quoted = (text) => inline(text.replace(/^\s*(?:\||(?:[-*+•]|\d+[.)])\s)|\|\s*$/g, "").trim().replace(/\s+\|\s+/g, " · "));

// Paragraphs, lists, headings and fenced code.
export function blocks(text, cite) {
  const nodes = [];
  for (const part of text.split(/(^```[^\n]*\n[\s\S]*?(?:^```[^\S\n]*$|$(?![\s\S])))/m)) {
    const fence = /^```[^\n]*\n([\s\S]*?)(?:\n?^```[^\S\n]*$)?$/m.exec(part);
    if (part.startsWith("```") && fence) { nodes.push(make("pre", { tabindex: "0" }, fence[1])); continue; }
    for (const paragraph of part.split(/\n\s*\n/)) if (paragraph.trim()) nodes.push(...block(paragraph.trim(), cite));
  }
  return nodes;
}

function block(text, cite) {
  const lines = text.split("\n");
  const bullet = /^\s*(?:[-*+•]|(\d+)[.)])\s+/;
  if (bullet.test(lines[0])) {
    const items = [];
    for (const line of lines) bullet.test(line) ? items.push(line.replace(bullet, "")) : items.push(`${items.pop()}\n${line.trim()}`);
    const number = bullet.exec(lines[0])[1];
    return [make(number ? "ol" : "ul", number && number !== "1" ? { start: number } : {}, items.map((item) => make("li", {}, inline(item, cite))))];
  }
  const heading = /^#{1,6}\s+(.*)$/.exec(lines[0]);
  if (heading) return [make("h2", {}, inline(heading[1], cite)), ...(lines.length > 1 ? block(lines.slice(1).join("\n"), cite) : [])];
  return [make("p", {}, inline(text, cite))];
}
