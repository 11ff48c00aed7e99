// The laboratory's page: two scripts, a run of them, a crash, a recovery, each to be stepped through. What is shown is what the module
// answers (lab/laboratory.h); the page adds up its steps.
import { sql, PostgreSQL } from "@codemirror/lang-sql";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import { EditorView, basicSetup } from "codemirror";
import { drawGraph } from "./graph.mjs";
import { stateOfRecovery, stateOfWork } from "./states.mjs";

/* global PRESETS, NATIVE */
const kNames = { bank: "the bank of PACMAN's paper", shop: "a shop", tpcc: "TPC-C, very small" };
const kLongestMs = 20000;
const byId = (id) => document.getElementById(id);
const make = (name, attributes = {}, ...inside) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  element.append(...inside);
  return element;
};
const palette = getComputedStyle(document.documentElement).getPropertyValue("--palette").trim().split(/\s+/);
const colour = (number) => palette[number % palette.length];

// --- the engine: in a worker, or a server's (`mneme lab`), which stops what does not end by itself ---

let worker, waiting = new Map(), next = 0;
const gzipped = () => Uint8Array.from(atob(byId("module").textContent.trim()), (c) => c.charCodeAt(0));
async function askServer(request) {
  let response;
  try {
    response = await fetch("answer", { method: "POST", headers: { "Content-Type": "application/json" }, body: request });
  } catch {
    throw new Error("the engine does not answer: does `mneme lab` still run?");
  }
  const text = await response.text();
  if (!response.ok) throw new Error(text.trim());
  return text;
}
function ask(message) {
  return new Promise((resolve, reject) => {
    const number = next++;
    const late = setTimeout(() => {
      worker.terminate();
      worker = undefined;
      reject(new Error(`the script has not ended after ${kLongestMs / 1000} seconds, and was stopped: does a loop have no end?`));
    }, kLongestMs);
    waiting.set(number, { resolve, reject, late });
    worker.postMessage({ ...message, number });
  });
}
async function start() {
  if (NATIVE || worker) return;
  waiting = new Map();
  worker = new Worker(URL.createObjectURL(new Blob([byId("worker").textContent], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => {
    const { resolve, reject, late } = waiting.get(data.number);
    clearTimeout(late);
    waiting.delete(data.number);
    data.error === undefined ? resolve(data.text) : reject(new Error(data.error));
  };
  await ask({ bytes: gzipped() });
}

// --- what is chosen: all of it is in the link ---

const numbers = { group: 4, "disk-seed": 1, threads: 3, lanes: 4, batch: 4, seed: 1, "crash-seed": 1 };
const choices = { scheme: "clr-p", level: "pipelined" };
let view = { preset: "bank", at: null, crash: null, step: null };  // the step of the work that is shown, the crash's, the replay's
let answered = null, quiet = false;

const colours = HighlightStyle.define([{ tag: tags.keyword, color: "var(--accent)" }, { tag: [tags.comment], color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" }, { tag: [tags.typeName, tags.standard(tags.name)], color: "var(--type)" }, { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" }]);
const editor = (parent, label) => new EditorView({ parent: byId(parent), extensions: [basicSetup, syntaxHighlighting(colours), sql({ dialect: PostgreSQL }), EditorView.lineWrapping,
  EditorView.contentAttributes.of({ "aria-label": label }), EditorView.updateListener.of((update) => { if (update.docChanged && !quiet) changed(); })] });
const setup = editor("setup", "Tables, procedures, first rows"), calls = editor("calls", "Calls");
const textOf = (one) => one.state.doc.toString();
const setText = (one, text) => { quiet = true; one.dispatch({ changes: { from: 0, to: one.state.doc.length, insert: text } }); quiet = false; };

async function squeeze(text, how) {
  const stream = new Blob([text]).stream().pipeThrough(how);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
// The link of what is shown. Of several that are made at the same time the newest one counts, whichever is ready last.
let links = 0;
async function keepLink() {
  const mine = ++links;
  const kept = { preset: view.preset };
  for (const [id, usual] of Object.entries(numbers)) if (Number(byId(id).value) !== usual) kept[id] = Number(byId(id).value);
  for (const [id, usual] of Object.entries(choices)) if (byId(id).value !== usual) kept[id] = byId(id).value;
  if (textOf(setup) !== PRESETS[view.preset].setup) kept.setup = textOf(setup);
  if (textOf(calls) !== PRESETS[view.preset].calls) kept.calls = textOf(calls);
  for (const name of ["at", "crash", "step"]) if (view[name] !== null) kept[name] = view[name];
  const bytes = await squeeze(new TextEncoder().encode(JSON.stringify(kept)), new CompressionStream("deflate-raw"));
  if (mine !== links) return;
  const hash = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  history.replaceState(null, "", `#${hash}`);
}
// Returns an error where it is none: what is shown is then the first example.
async function readLink() {
  let kept = {}, damaged = null;
  try {
    const bytes = Uint8Array.from(atob(location.hash.slice(1).replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    if (bytes.length) kept = JSON.parse(new TextDecoder().decode(await squeeze(bytes, new DecompressionStream("deflate-raw"))));
  } catch {
    damaged = new Error("the link is damaged: this is the first example");
  }
  const preset = Object.hasOwn(PRESETS, kept.preset) ? kept.preset : "bank";
  const step = (value) => (Number.isSafeInteger(value) && value >= 0 ? value : null);
  view = { preset, at: step(kept.at), crash: step(kept.crash), step: step(kept.step) };
  byId("preset").value = preset;
  for (const [id, usual] of Object.entries(numbers)) byId(id).value = Number.isSafeInteger(kept[id]) ? kept[id] : usual;
  for (const [id, usual] of Object.entries(choices)) byId(id).value = [...byId(id).options].some((option) => option.value === kept[id]) ? kept[id] : usual;
  setText(setup, typeof kept.setup === "string" ? kept.setup : PRESETS[preset].setup);
  setText(calls, typeof kept.calls === "string" ? kept.calls : PRESETS[preset].calls);
  return damaged;
}

function fail(error) {
  byId("error").textContent = error?.message ?? "";
  byId("error").hidden = !error;
}
const say = (text) => { byId("status").textContent = text; };

function request() {
  const value = (id) => Number(byId(id).value);
  const wanted = { setup: textOf(setup), calls: textOf(calls), group: value("group"), disk_seed: value("disk-seed") };
  if (view.crash) {
    wanted.crash = { behind: view.crash, seed: value("crash-seed") };
    wanted.recovery = { scheme: byId("scheme").value, level: byId("level").value, threads: value("threads"), lanes: value("lanes"), batch: value("batch"), seed: value("seed") };
  }
  return JSON.stringify(wanted);
}

async function run() {
  say("The script runs.");
  try {
    await start();
    const text = await (NATIVE ? askServer(request()) : ask({ request: request() }));
    const answer = JSON.parse(text);
    if (answer.error) throw new Error(answer.error);
    fail(null);
    answered = answer;
    const steps = answer.forward.steps.length;
    view.at = view.at === null ? steps : Math.min(view.at, steps);
    if (answer.recovery) view.step = view.step === null ? answer.recovery.steps.length : Math.min(view.step, answer.recovery.steps.length);
    say(`${steps} steps of work${answer.recovery ? `, the power has failed behind step ${view.crash}, ${answer.recovery.steps.length} steps of recovery` : ""}.`);
    show();
    await keepLink();
  } catch (error) {
    say("There is no result.");
    fail(error);
  }
}
function changed() {
  say("The script has changed: run it.");
  view = { preset: view.preset, at: null, crash: null, step: null };
}

// --- steps ---

// A slider with buttons. `told`: what a step was, in words.
function stepper(id, title, { told, moved, extra = [] }) {
  const slider = make("input", { type: "range", min: 0, max: 0, step: 1, "aria-label": title });
  const words = make("p", { class: "told", role: "status" });
  const go = (to) => { slider.value = Math.max(0, Math.min(Number(slider.max), to)); moved(Number(slider.value)); };
  const button = (text, label, to) => { const one = make("button", { "aria-label": label, title: label }, text); one.addEventListener("click", () => go(to())); return one; };
  const at = () => Number(slider.value);
  slider.addEventListener("input", () => moved(at()));
  byId(id).replaceChildren(make("div", { class: "row" }, button("|◀", `${title}: to the beginning`, () => 0), button("◀", `${title}: a step back`, () => at() - 1), slider,
    button("▶", `${title}: a step on`, () => at() + 1), button("▶|", `${title}: to the end`, () => Number(slider.max)), ...extra), words);
  return (value, count) => {
    slider.max = count;
    slider.value = value;
    slider.setAttribute("aria-valuetext", `step ${value} of ${count}`);
    words.replaceChildren(make("strong", {}, `Step ${value} of ${count}. `), told(value));
  };
}
const plug = make("button", { class: "plug", id: "plug" }, "Pull the plug here");
const showWork = stepper("work-steps", "The work", { told: (at) => tellWork(at), moved: (at) => { view.at = at; showWorkAt(); keepLink(); }, extra: [plug] });
const showReplay = stepper("replay-steps", "The replay", { told: (at) => tellReplay(at), moved: (at) => { view.step = at; showReplayAt(); keepLink(); } });
plug.addEventListener("click", async () => {
  view.crash = view.at;
  view.step = null;
  await run();
  byId("recovery").scrollIntoView();
  byId("recovery-title").focus?.();
});

const list = (numbers) => numbers.map((number) => `#${number}`).join(", ");
function tellWork(at) {
  if (at === 0) return "The database is open, and nothing has run.";
  const event = answered.forward.steps[at - 1];
  switch (event.kind) {
    case "begin": return `Statement #${event.statement} begins: ${event.text}`;
    case "reserve": return `The transaction is valid, and draws its place in the commit order: LSN ${event.lsn}, for a record of ${event.bytes} bytes. Its rows are locked.`;
    case "fill": return `The rows are as the transaction leaves them, and unlocked. Its record is in the log's buffer: ${event.text}`;
    case "answer": return !event.ok ? `Statement #${event.statement} has failed, and has changed nothing: ${event.message}${event.waits ? ` The client is told once LSN ${event.lsn}, which it has read, is durable.` : ""}`
      : event.waits ? `Statement #${event.statement} has run (${event.tag}). Its client is told nothing before LSN ${event.lsn} is durable.`
      : `Statement #${event.statement} has run (${event.tag}), and depends on nothing that a crash can take: its client is told at once.`;
    case "write": return `The flusher cuts the records into blocks of 4 KiB, with checksums, and writes ${event.blocks.length === 1 ? "one" : event.blocks.length}: they are in the disk's volatile cache.`;
    case "sector": return `The sync writes a sector to the medium: segment ${event.segment}, block ${Math.floor((event.offset - 4096) / 4096)}, sector ${event.offset % 4096 / 512}. Any sector may come first.`;
    case "synced": return "The sync is complete: all that was written is on the medium.";
    case "durable": return `All records below LSN ${event.lsn} are durable. ${event.acknowledged.length ? `The clients of ${list(event.acknowledged)} are told.` : "No client waited for them."}`;
    case "checkpoint": return `A checkpoint of ${event.rows} rows is on the disk: recovery begins there, at LSN ${event.lsn}.`;
    default: return "The script has ended.";
  }
}

const blockName = (number) => answered.recovery.graph.blocks[number]?.name ?? "the rest";
function tellReplay(at) {
  const recovery = answered.recovery;
  if (at === 0) return `The checkpoint is loaded (${recovery.checkpoint.rows} rows), and the log read to its end.`;
  const event = recovery.steps[at - 1];
  const what = (step) => `#${step.record}${step.part ? `, ${step.part}` : ""}`;
  switch (event.kind) {
    case "replay": return `Record #${event.record} is run again, whole: ${recovery.log.records[event.record].text}`;
    case "load": return `Thread ${event.thread} loads and decodes batch ${event.batch}, which begins with record #${event.first_record}.`;
    case "fill": return `Thread ${event.thread} puts the pieces of batch ${event.batch} into the lanes of block ${blockName(event.block)}: ${event.pieces.length}.`;
    case "arrive": return `Block ${blockName(event.block)}, lane ${event.lane} has come to ${what(event)}, which stands in other lanes, too, and steps aside until these have come to it.`;
    case "run": return `Thread ${event.thread} runs ${what(event)}, in lane ${event.lane} of block ${blockName(event.block)}.`;
    case "finish": return `Block ${blockName(event.block)} has run all its pieces of batch ${event.batch}.`;
    case "retire": return `All pieces of batch ${event.batch} have run: its place is free.`;
    default: return "";
  }
}

// --- panes ---

function showTables(place, tables, state) {
  place.replaceChildren(...tables.filter((table) => state.rows.get(table.name)?.size || state.changed.some((change) => change.table === table.name)).map((table) => {
    const changes = new Map(state.changed.filter((change) => change.table === table.name).map((change) => [change.slot, change]));
    const cell = (value, before) => {
      const cell = make("td", { title: value ?? "NULL" });
      if (before !== undefined && before !== value) cell.append(make("del", {}, before ?? "NULL"));
      cell.append(value ?? "NULL");
      return cell;
    };
    const rows = [...state.rows.get(table.name) ?? []].sort((a, b) => a[0] - b[0]).map(([slot, values]) => {
      const change = changes.get(slot);
      return make("tr", { class: change ? "changed" : null }, ...values.map((value, i) => cell(value, change?.before ? change.before[i] : undefined)));
    });
    for (const change of changes.values()) if (!change.after) rows.push(make("tr", { class: "gone" }, ...change.before.map((value) => cell(value))));
    const head = make("tr", {}, ...table.columns.map((column) => make("th", { scope: "col", title: column.type }, table.key.includes(column.name) ? `${column.name} *` : column.name)));
    return make("div", { tabindex: 0, role: "region", "aria-label": `table ${table.name}` }, make("table", {}, make("caption", {}, table.name), make("thead", {}, head), make("tbody", {}, ...rows)));
  }));
  if (!place.childElementCount) place.append(make("p", { class: "muted" }, "No table has a row."));
}

const kStates = { reserved: ["○", "its place is drawn"], buffer: ["◔", "in the buffer alone"], cache: ["◑", "in the disk's cache"], durable: ["●", "on the medium"] };
function showRecords(state) {
  byId("positions").textContent = `durable up to ${state.durable} · written up to ${state.written} · filled up to ${state.filled} · drawn up to ${state.drawn}`;
  byId("records").replaceChildren(...state.records.map((record) => {
    const [sign, words] = kStates[record.state];
    const chip = make("button", { class: `chip ${record.state}${record.isNow ? " now" : ""}`, title: words, "aria-label": `record at LSN ${record.lsn}: ${words}` }, `${sign} ${record.lsn}`);
    chip.addEventListener("click", () => showBytes(record));
    return chip;
  }));
  byId("bytes").replaceChildren();
  if (state.records.length) byId("bytes").append(`${Object.values(kStates).map(([sign, words]) => `${sign} ${words}`).join(" · ")}. Choose a record to see its bytes.`);
}
function showBytes(record) {
  const hex = (from, until) => record.bytes.slice(2 * from, 2 * until).replace(/../g, "$& ").trim();
  byId("bytes").replaceChildren(make("strong", {}, `LSN ${record.lsn}: ${record.text || "its bytes are not there yet"}`));
  if (record.bytes) byId("bytes").append(make("ul", {}, ...[["checksum", 0, 4], ["size of the record", 4, 7], ["kind", 7, 8], ["LSN", 8, 16], ["payload", 16, record.bytes.length / 2]]
    .map(([name, from, until]) => make("li", {}, `${name}: `, make("code", {}, hex(from, until))))));
}

const kSectors = { medium: "on the medium", cache: "in the cache", lost: "lost", empty: "empty" };
function sectorsOf(sectors) {
  return make("span", { class: "sectors", role: "img", "aria-label": sectors.map((sector) => kSectors[sector.state]).join(", ") },
    ...sectors.map((sector) => make("span", { class: `sector ${sector.state}${sector.isNow ? " now" : ""}`, title: kSectors[sector.state] })));
}
function showDisk(state) {
  byId("disk-legend").replaceChildren(...["cache", "medium"].map((name) => make("span", {}, make("span", { class: `sector ${name}` }), ` a sector ${kSectors[name]}`)));
  byId("disk").replaceChildren(...[...state.segments].map(([number, blocks]) => make("div", { class: "segment" }, make("div", { class: "state" }, `segment ${number}`),
    make("div", { class: "blocks" }, ...[...blocks].map(([index, block]) => make("div", { class: "block" }, make("div", {}, `block ${index}: ${block.begin} to ${block.begin + block.used}`), sectorsOf(block.sectors)))))));
  if (!state.segments.size) byId("disk").append(make("p", { class: "muted" }, "Nothing of this run has been written."));
}

function showStatements(state) {
  byId("statements").start = 0;
  byId("statements").replaceChildren(...state.statements.map((statement) => {
    const item = make("li", { class: statement.isNow ? "now" : null }, make("code", {}, statement.text), " ", make("span", { class: `state ${statement.good ? "good" : statement.bad ? "bad" : ""}` }, statement.state));
    if (statement.rows?.length) item.append(make("div", { class: "state" }, statement.rows.slice(0, 5).map((row) => statement.columns.map((name, i) => `${name} = ${row[i] ?? "NULL"}`).join(", ")).join("; ").slice(0, 400)));
    return item;
  }));
  byId("statements").querySelector(".now")?.scrollIntoView({ block: "nearest" });
}

function showWorkAt() {
  const steps = answered.forward.steps;
  showWork(view.at, steps.length);
  plug.disabled = view.at === 0;
  const state = stateOfWork(answered.forward, view.at);
  showStatements(state);
  showRecords(state);
  showDisk(state);
  showTables(byId("tables"), answered.forward.tables, state);
}

function showCrash() {
  const { recovery, forward, verdict } = answered;
  const fate = new Map(forward.crash.sectors.map((sector) => [`${sector.segment}/${sector.offset}`, sector.kept]));
  const kept = forward.crash.sectors.filter((sector) => sector.kept).length;
  const unanswered = forward.steps.slice(0, view.crash).filter((event) => event.kind === "answer" && event.waits && event.lsn !== undefined).map((event) => event.statement)
    .filter((number) => !verdict.kept.includes(number) && !verdict.lost.includes(number));
  const untold = unanswered.length ? ` Of ${list(unanswered)} no client was told: they may be in it, or not.` : "";
  const told = verdict.lost.length ? `${list(verdict.lost)}, of which the clients were told, are lost.` : verdict.kept.length ? `All ${verdict.kept.length} statements whose clients were told are in it.` : "No client had been told anything.";
  byId("verdict").replaceChildren(make("strong", {}, `The recovered log ends at LSN ${verdict.recovered_upto}. ${told} `), `${untold} `.trimStart(),
    verdict.rows_are_as_they_were ? "The rows are those that the last record in it left, to the byte" : "The rows are not those that the last record in it left",
    verdict.agrees ? "; recover(), the engine's own, in one go, gives the same digest " : "; recover(), the engine's own, gives another digest ", make("code", {}, recovery.recover_digest), ".");
  const lines = [make("p", {}, forward.crash.sectors.length ? `${forward.crash.sectors.length} sectors were in the disk's cache alone: ${kept} have reached the medium, and ${forward.crash.sectors.length - kept} are lost, each by itself.`
    : "No sector was in the disk's cache alone.", ` ${recovery.log.dropped_reason || "The log ends where its last block does."}`)];
  const work = new Set(forward.steps.filter((event) => event.kind === "write").map((event) => event.segment));
  const stateOf = (segment, block, number) => {
    const key = `${segment}/${4096 * (block.block + 1) + 512 * number}`;
    if (fate.has(key)) return fate.get(key) ? "medium" : "lost";
    return block.state === "whole" || block.sectors[number] ? "medium" : "empty";
  };
  for (const segment of recovery.disk) {
    const blocks = segment.blocks.filter((block) => block.state !== "empty" || [...Array(8).keys()].some((i) => fate.has(`${segment.segment}/${4096 * (block.block + 1) + 512 * i}`)));
    const isOfRun = work.has(segment.segment);
    lines.push(make("details", { class: "segment", open: isOfRun }, make("summary", { class: "state" }, `segment ${segment.segment}: ${blocks.length} block${blocks.length === 1 ? "" : "s"}${isOfRun ? "" : ", of the setup, below the checkpoint"}`), make("div", { class: "blocks" }, ...blocks.map((block) =>
      make("div", { class: `block ${block.state}` }, make("div", {}, `block ${block.block}: ${block.state}${block.used ? `, ${block.begin} to ${block.begin + block.used}` : ""}`),
        sectorsOf([...Array(8).keys()].map((i) => ({ state: stateOf(segment.segment, block, i) }))))))));
  }
  byId("crashed-disk").replaceChildren(...lines);
}

function showLanes(state) {
  const { recovery } = answered, grid = make("div", { class: "lanegrid" });
  recovery.lane_counts.forEach((count, block) => {
    if (!state.lanes.get(block)?.size && block >= recovery.graph.blocks.length) return;
    const shown = recovery.graph.blocks[block], lanes = state.lanes.get(block) ?? new Map();
    const part = make("div", { style: `--own: ${colour(block)}` }, make("div", { class: "blockname" }, make("strong", {}, blockName(block)), ` ${shown ? shown.tables.join(", ") : "rows that no procedure touches"}`,
      make("span", { class: "state" }, shown?.lanes.length ? ` · ${shown.lanes.join("; ")}` : "")));
    const idle = [...Array(count).keys()].filter((lane) => !lanes.has(lane));
    for (let lane = 0; lane < count; ++lane) {
      const pieces = lanes.get(lane) ?? [];
      if (!pieces.length) continue;
      part.append(make("div", { class: "lane" }, make("span", {}, `lane ${lane}`), ...pieces.map((piece) => make("span", { class: `cell${piece.ran ? " ran" : ""}${piece.isNow ? " now" : ""}`,
        title: `${recovery.log.records[piece.record]?.text ?? ""}${piece.part ? ` (${piece.part})` : ""}${piece.ran ? `: thread ${piece.thread}, step ${piece.step}` : ": has not run"}` },
        `${piece.ran ? "" : "…"}#${piece.record}${piece.part ? ` ${piece.part.replace("changed row", "row").replace("iteration ", "i").replace("part ", "p").replace("the batch's whole share", "and all of its batch")}` : ""}${piece.lanes > 1 ? " ⇄" : ""}`))));
    }
    if (idle.length) part.append(make("div", { class: "state" }, idle.length === count ? `no piece yet in its ${count} lane${count > 1 ? "s" : ""}` : `none in lane ${idle.join(", ")}`));
    grid.append(part);
  });
  byId("lanes-view").replaceChildren(grid, make("p", { class: "muted" }, "A piece is named by its record; … it has not run; ⇄ it stands in several lanes, and runs once all of them have come to it."));
}

function showTimeline(at) {
  const { recovery } = answered, threads = Number(byId("threads").value), time = make("div", { class: "time", style: `grid-template-rows: repeat(${threads}, 1.4rem)` });
  recovery.steps.slice(0, at).forEach((event, i) => {
    for (let thread = 0; thread < threads; ++thread) {
      if (event.thread !== thread) { time.append(make("div", { class: "t" })); continue; }
      const runs = event.kind === "run", sign = { run: "", load: "l", fill: "f", arrive: "⇄", finish: "✓", retire: "r" }[event.kind];
      time.append(make("div", { class: `t ${runs ? "run" : "other"}`, style: event.block !== undefined ? `--own: ${colour(event.block)}` : null, title: `step ${i + 1}: ${event.kind}` }, runs ? blockName(event.block).slice(0, 1) : sign));
    }
  });
  byId("timeline").replaceChildren(time);
  byId("timeline").scrollLeft = byId("timeline").scrollWidth;
  byId("thread-names").replaceChildren(...[...Array(threads).keys()].map((thread) => make("div", {}, `thread ${thread}`)));
}

function showWaits(at) {
  const { recovery } = answered;
  const why = (from, to) => recovery.graph.edges.find((edge) => edge.from === from && edge.to === to)?.reasons[0];
  const seen = at === 0 ? [] : recovery.steps[at - 1].waiting;
  const items = seen.map((wait) => {
    if (wait.what === "fill") {
      const reasons = wait.for.map((block) => why(block, wait.block)).filter(Boolean);
      return `Block ${blockName(wait.block)} waits with batch ${wait.batch} for ${wait.for.map((block) => `block ${blockName(block)}`).join(" and ")}${reasons.length ? `: ${reasons.join("; ")}` : ""}`;
    }
    if (wait.what === "lane") {
      const first = recovery.steps.find((step) => step.kind === "load" && step.batch === wait.batch)?.first_record ?? 0;
      return `Block ${blockName(wait.block)}, lane ${wait.lane} waits at #${first + wait.transaction} for lane ${wait.for.join(", ")}`;
    }
    const task = { load: "the next batch can be loaded", fill: `batch ${wait.batch} can be put into the lanes of block ${blockName(wait.block)}`, lane: `lane ${wait.lane} of block ${blockName(wait.block)} can go on` }[wait.task];
    return `No thread has come to it yet: ${task}`;
  });
  byId("waits").replaceChildren(...(items.length ? items : ["Nothing waits."]).map((text) => make("li", {}, text)));
}

function showReplayAt() {
  const { recovery } = answered, serial = recovery.graph === undefined;
  showReplay(view.step, recovery.steps.length);
  const state = stateOfRecovery(recovery, view.step);
  for (const id of ["graph-pane", "threads-pane", "lanes-pane", "waits-pane"]) byId(id).hidden = serial;
  byId("log").replaceChildren(...recovery.log.records.map((record, number) => make("li", { class: state.now === number ? "now" : null }, make("code", {}, record.text), " ",
    make("span", { class: `state ${state.done.has(number) ? "good" : ""}` }, `LSN ${record.lsn}${state.done.has(number) ? ", replayed" : state.begun.has(number) ? ", begun" : ""}`))));
  byId("log").querySelector(".now")?.scrollIntoView({ block: "nearest" });
  showTables(byId("replayed-tables"), recovery.tables, state);
  if (serial) return;
  drawGraph(byId("graph"), byId("why"), recovery.graph, state.block, colour);
  showTimeline(view.step);
  showLanes(state);
  showWaits(view.step);
}

function show() {
  byId("work").hidden = false;
  showWorkAt();
  byId("recovery").hidden = !answered.recovery;
  if (!answered.recovery) return;
  showCrash();
  showReplayAt();
}

// --- the controls ---

byId("preset").append(...Object.keys(PRESETS).map((name) => make("option", { value: name }, kNames[name] ?? name)));
byId("preset").addEventListener("change", () => {
  view = { preset: byId("preset").value, at: null, crash: null, step: null };
  setText(setup, PRESETS[view.preset].setup);
  setText(calls, PRESETS[view.preset].calls);
  run();
});
byId("run").addEventListener("click", () => { view = { preset: view.preset, at: null, crash: null, step: null }; run(); });
byId("share").addEventListener("click", async () => {
  await keepLink();
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied.");
  } catch {
    say("The address above is the link: copy it from there.");
  }
});
for (const id of ["group", "disk-seed"]) byId(id).addEventListener("change", () => { view = { preset: view.preset, at: null, crash: null, step: null }; run(); });
for (const id of ["scheme", "level", "threads", "lanes", "batch", "seed", "crash-seed"]) byId(id).addEventListener("change", () => { view.step = null; run(); });
// Arrows step through what was used last, unless another control has them.
addEventListener("keydown", (event) => {
  if (event.target.closest?.("input, select, textarea, [contenteditable=true]") || event.altKey || event.ctrlKey || event.metaKey || !answered) return;
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by) return;
  event.preventDefault();
  if (event.target.closest?.("#recovery")) { view.step = Math.max(0, Math.min(answered.recovery.steps.length, view.step + by)); showReplayAt(); }
  else { view.at = Math.max(0, Math.min(answered.forward.steps.length, view.at + by)); showWorkAt(); }
  keepLink();
});
addEventListener("hashchange", async () => { const damaged = await readLink(); await run(); if (damaged) fail(damaged); });

const began = performance.now();
begin();
async function begin() {
  const damaged = await readLink();
  try {
    await start();
  } catch (error) {
    say("The engine could not be loaded.");
    return fail(error);
  }
  await run();
  if (damaged) fail(damaged);
  document.documentElement.dataset.ready = Math.round(performance.now() - began);
}
