// Answers requests by the laboratory's module, under node: prints the answers, a line each.
//
// usage: node laboratory_module.mjs LABORATORY.wasm REQUESTS.json      a list of requests
import fs from "node:fs";
import { answer } from "../../lab/page/engine.mjs";

const [file, requests] = process.argv.slice(2);
const module = await WebAssembly.compile(fs.readFileSync(file));
for (const request of JSON.parse(fs.readFileSync(requests, "utf8"))) console.log(await answer(module, JSON.stringify(request)));
