// Makes the page: node build.mjs MODULE.wasm OUTPUT.html, in which the module runs;
// or node build.mjs --served OUTPUT.cc, C++ with the page that `mneme lab` serves, which asks its server.
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import { buildSync } from "esbuild";

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const root = path.resolve(here, "../..");
const [module, output] = process.argv.slice(2);
const isServed = module === "--served";
const text = (file) => fs.readFileSync(path.join(root, file), "utf8");
const presets = { bank: "tests/data/bank.sql", shop: "examples/shop/shop.sql", tpcc: "workloads/tpcc/tpcc.sql" };
const define = { NATIVE: String(isServed), PRESETS: JSON.stringify(Object.fromEntries(Object.entries(presets).map(([name, file]) =>
  [name, { setup: `${text(file)}\n${text(`lab/page/presets/${name}_rows.sql`)}`, calls: text(`lab/page/presets/${name}_calls.sql`) }]))) };
const bundle = (entry) => buildSync({ entryPoints: [path.join(here, entry)], bundle: true, write: false, format: "iife", minify: true, target: "es2022", define,
  legalComments: "none" }).outputFiles[0].text.replaceAll("</script", "<\\/script");
const parts = { STYLE: text("experiments/page/design.css") + text("lab/page/page.css"), SCRIPT: bundle("page.mjs"),
  ENGINE: isServed ? "The engine of this machine's <code>mneme lab</code> runs here, in one thread" : "The engine itself runs in this page, in one thread, without a server",
  MODULE: isServed ? "" : zlib.gzipSync(fs.readFileSync(module), { level: 9 }).toString("base64"), WORKER: isServed ? "" : bundle("worker.mjs") };
const page = text("lab/page/page.html").replace(/@(STYLE|MODULE|WORKER|SCRIPT|ENGINE)@/g, (whole, name) => parts[name]);

// A literal may be no longer than a compiler takes.
const kLiteral = 16000;
const literals = (characters) => Array.from({ length: Math.ceil(characters.length / kLiteral) },
  (_, i) => `R"MNEMEPAGE(${characters.slice(i * kLiteral, (i + 1) * kLiteral).join("")})MNEMEPAGE"`).join("\n");
fs.writeFileSync(output, isServed ? `// Made from lab/page by its build.mjs.
#include "cli/lab/laboratory_page.h"

namespace mneme {

const std::string_view kLaboratoryPage = ${literals([...page])};

}  // namespace mneme
` : page);
