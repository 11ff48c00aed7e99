// Draws the blocks of the global dependency graph, predecessors above, with the arrows that no others imply.

const svg = (name, attributes = {}, ...inside) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
};

function direct(edges) {
  const reaches = (from, to, skipped) => edges.some((edge) => edge.from === from && edge !== skipped && (edge.to === to || reaches(edge.to, to, skipped)));
  return edges.filter((edge) => !reaches(edge.from, edge.to, edge));
}

// `now`: the block at work, or null. `why`: gets an arrow's reasons.
export function drawGraph(place, why, graph, now, hue) {
  const edges = direct(graph.edges), depth = graph.blocks.map(() => 0);
  graph.blocks.forEach((block, number) => { for (const before of block.predecessors) depth[number] = Math.max(depth[number], depth[before] + 1); });
  const lines = graph.blocks.map((block) => [block.tables.join(", "), block.members.map((member) => `${member.procedure}: ${member.slice}`).join(", ")].map((line) => line.length > 46 ? `${line.slice(0, 45)}…` : line));
  // An arrow over several layers has a place of its own in those between, so that none lies behind a box.
  const width = (number) => 30 + 7 * Math.max(...lines[number].map((line) => line.length), 8), height = 62, layers = [];
  const boxes = graph.blocks.map((block, number) => { const box = { number, w: width(number), parents: [] }; (layers[depth[number]] ??= []).push(box); return box; });
  const routes = edges.map((edge) => {
    const route = [boxes[edge.from]];
    for (let layer = depth[edge.from] + 1; layer < depth[edge.to]; ++layer) {
      const gap = { w: 12, parents: [route.at(-1)] };
      layers[layer].push(gap);
      route.push(gap);
    }
    boxes[edge.to].parents.push(route.at(-1));
    return [...route, boxes[edge.to]];
  });
  let right = 0;
  layers.forEach((layer, number) => {
    const centre = (box) => (box.parents.length ? box.parents.reduce((sum, parent) => sum + parent.x + parent.w / 2, 0) / box.parents.length : 0);
    let x = 10;
    for (const box of layer.sort((a, b) => centre(a) - centre(b))) {
      box.x = Math.max(x, Math.min(centre(box) - box.w / 2, x + 160));
      box.y = 10 + number * (height + 40);
      x = box.x + box.w + 24;
      right = Math.max(right, x - 14);
    }
  });
  const bottom = 20 + layers.length * (height + 40) - 40;
  const drawing = svg("svg", { width: right, height: bottom, viewBox: `0 0 ${right} ${bottom}`, role: "group", "aria-label": "blocks and the arrows between them" },
    svg("defs", {}, svg("marker", { id: "tip", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, svg("path", { d: "M0 0L10 5L0 10z", fill: "currentColor" }))));
  graph.blocks.forEach((block, number) => {
    const box = boxes[number];
    drawing.append(svg("g", { style: `--hue: ${hue(number)}` }, svg("rect", { x: box.x, y: box.y, width: box.w, height, rx: 6, class: number === now ? "now" : "" }),
      svg("text", { x: box.x + 10, y: box.y + 19, "font-weight": 600 }, `block ${block.name}`),
      ...lines[number].map((line, i) => svg("text", { x: box.x + 10, y: box.y + 36 + 15 * i, class: "small" }, line))));
  });
  const out = new Map(), into = new Map(), nth = (counts, key) => { const n = counts.get(key) ?? 0; counts.set(key, n + 1); return n; };
  edges.forEach((edge, number) => {
    const [a, ...rest] = routes[number], b = rest.pop();
    const x1 = a.x + a.w / 2 + 14 * nth(out, edge.from), x2 = b.x + b.w / 2 - 14 * nth(into, edge.to);
    let path = `M${x1} ${a.y + height}`, x = x1, y = a.y + height;
    const to = (nextX, nextY) => { path += `C${x} ${y + 20} ${nextX} ${nextY - 20} ${nextX} ${nextY}`; x = nextX; y = nextY; };
    for (const gap of rest) {
      to(gap.x + gap.w / 2, gap.y);
      y += height;
      path += `V${y}`;
    }
    to(x2, b.y - 2);
    const title = `${graph.blocks[edge.from].name} before ${graph.blocks[edge.to].name}`;
    const link = svg("g", { class: "link", tabindex: 0, role: "button", "aria-label": title }, svg("path", { class: "edge", d: path, "marker-end": "url(#tip)" }), svg("path", { class: "hit", d: path }));
    const tell = () => {
      drawing.querySelectorAll(".chosen").forEach((other) => other.classList.remove("chosen"));
      link.classList.add("chosen");
      const reasons = document.createElement("ul");
      for (const reason of edge.reasons) { const item = document.createElement("li"); item.textContent = reason; reasons.append(item); }
      const strong = document.createElement("strong");
      strong.textContent = title;
      why.replaceChildren(strong, reasons);
    };
    for (const event of ["click", "focus", "pointerenter"]) link.addEventListener(event, tell);
    drawing.prepend(link);
  });
  place.replaceChildren(drawing);
}
