// Node's readers of pages for the benchmarks: `node peers.mjs ENGINE` reads one page as JSON per line ({"html", "url"}) and
// answers one line each: {"html": what the engine kept, "cpu_s": CPU seconds of parsing and reading} or {"error", "cpu_s"}.
import { createInterface } from "node:readline";
import { Readability } from "@mozilla/readability";
import { Defuddle } from "defuddle/node";
import { parseHTML } from "linkedom";

const ENGINES = {
  readability: async ({ html }) => new Readability(parseHTML(html).document).parse()?.content ?? "",
  defuddle: async ({ html, url }) => (await Defuddle(parseHTML(html).document, url, { useAsync: false })).content ?? "",
};
const read = ENGINES[process.argv[2]];
console.log = console.error; // standard output carries answers alone
for await (const line of createInterface({ input: process.stdin })) {
  const before = process.cpuUsage();
  let answer;
  try {
    answer = { html: await read(JSON.parse(line)) };
  } catch (error) {
    answer = { error: String(error) };
  }
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(JSON.stringify({ ...answer, cpu_s: (user + system) / 1e6 }) + "\n");
}
