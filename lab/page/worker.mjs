// The page's worker: a script that never ends does not take the page along.
import { answer } from "./engine.mjs";

let module;
onmessage = async ({ data }) => {
  try {
    if (data.bytes) {
      const stream = new Blob([data.bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
      postMessage({ number: data.number, text: "" });
    } else {
      postMessage({ number: data.number, text: await answer(module, data.request) });
    }
  } catch (error) {
    postMessage({ number: data.number, error: error.message });
  }
};
