// Runs the laboratory's module (lab/main.cc): an instance, with a disk in memory of its own, answers one request.
import { Directory, File, OpenFile, PreopenDirectory, WASI } from "@bjorn3/browser_wasi_shim";

const kBeginNs = 1704067200000000000n;  // a fixed time: the same link shows the same run

// The clock and the random numbers that are the same in each run. A later reading is a later time.
function steady(imports) {
  let now = kBeginNs, state = 1n;
  imports.clock_time_get = (id, precision, at) => {
    now += 1000n;
    steady.view().setBigUint64(at, now, true);
    return 0;
  };
  imports.random_get = (at, bytes) => {
    const view = steady.view();
    for (let i = 0; i < bytes; ++i) {
      state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
      view.setUint8(at + i, Number(state >> 56n));
    }
    return 0;
  };
  imports.fd_fdstat_set_flags = () => 0;  // no file waits
  return imports;
}

// The module's answer, as it writes it.
export async function answer(module, request) {
  const input = new File(new TextEncoder().encode(request)), output = new File([]), errors = new File([]);
  const files = [new OpenFile(input), new OpenFile(output), new OpenFile(errors), new PreopenDirectory("/", new Map([["tmp", new Directory(new Map())]]))];
  const wasi = new WASI(["mneme_lab", "/lab"], [], files, { debug: false });
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: steady({ ...wasi.wasiImport }) });
  steady.view = () => new DataView(instance.exports.memory.buffer);
  let status = 0;
  try {
    status = wasi.start(instance);
  } catch (error) {
    const said = new TextDecoder().decode(errors.data).trim();
    throw new Error(`the engine has stopped: ${said || error.message}`);
  }
  if (status !== 0) throw new Error(`the engine has ended with status ${status}: ${new TextDecoder().decode(errors.data).trim()}`);
  return new TextDecoder().decode(output.data);
}
