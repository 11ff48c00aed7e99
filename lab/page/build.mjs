// Makes the page: node build.mjs MODULE.wasm OUTPUT.html
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import { buildSync } from "esbuild";

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const root = path.resolve(here, "../..");
const [wasm, output] = process.argv.slice(2);
const text = (file) => fs.readFileSync(path.join(root, file), "utf8");
const presets = { bank: "tests/data/bank.sql", shop: "examples/shop/shop.sql", tpcc: "workloads/tpcc/tpcc.sql" };
const define = { PRESETS: JSON.stringify(Object.fromEntries(Object.entries(presets).map(([name, file]) =>
  [name, { setup: `${text(file)}\n${text(`lab/page/presets/${name}_rows.sql`)}`, calls: text(`lab/page/presets/${name}_calls.sql`) }]))) };
const bundle = (entry) => buildSync({ entryPoints: [path.join(here, entry)], bundle: true, write: false, format: "iife", minify: true, target: "es2022", define,
  legalComments: "none" }).outputFiles[0].text.replaceAll("</script", "<\\/script");
const parts = { STYLE: text("experiments/page/design.css") + text("lab/page/page.css"), MODULE: zlib.gzipSync(fs.readFileSync(wasm), { level: 9 }).toString("base64"), WORKER: bundle("worker.mjs"),
  SCRIPT: bundle("page.mjs") };
fs.writeFileSync(output, text("lab/page/page.html").replace(/@(STYLE|MODULE|WORKER|SCRIPT)@/g, (whole, name) => parts[name]));
