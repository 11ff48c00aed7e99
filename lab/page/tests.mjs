// Runs unit tests that were compiled to WebAssembly, under node, with a disk in memory; what they print goes to standard output. The disk has the
// statements of this source tree, as /source.
//
// usage: node tests.mjs TESTS.wasm [ARGUMENT...]      arguments of GoogleTest; the exit status is the tests'
import fs from "node:fs";
import path from "node:path";
import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI } from "@bjorn3/browser_wasi_shim";

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "../..");
// The folder's .sql files, and its folders that have some.
function statements(folder) {
  const inside = fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) { const found = statements(at); return found.contents.size > 0 ? [[entry.name, found]] : []; }
    return entry.name.endsWith(".sql") ? [[entry.name, new File(fs.readFileSync(at))]] : [];
  });
  return new Directory(new Map(inside));
}
const source = new Directory(new Map(["workloads", "tests", "examples", "course"].map((name) => [name, statements(path.join(root, name))])));
const [file, ...given] = process.argv.slice(2);
const lines = () => ConsoleStdout.lineBuffered((line) => console.log(line));
const files = [new OpenFile(new File([])), lines(), lines(), new PreopenDirectory("/", new Map([["tmp", new Directory(new Map())], ["source", source]]))];
const wasi = new WASI(["tests", ...given], [], files, { debug: false });
const imports = { ...wasi.wasiImport, fd_fdstat_set_flags: () => 0 };
const instance = await WebAssembly.instantiate(await WebAssembly.compile(fs.readFileSync(file)), { wasi_snapshot_preview1: imports });
process.exitCode = wasi.start(instance);
