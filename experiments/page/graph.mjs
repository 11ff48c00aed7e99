// Draws nodes in layers, those that others wait for above, and the arrows between them: blocks, and the slices of a procedure. The slice page
// and the laboratory use it.
//
// An arrow that others imply is not drawn. An arrow over several layers has a place of its own in those between: none lies behind a box.
const svgElement = (name, attributes = {}, ...inside) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
};

// The edges without those that a path of others implies.
export function directEdges(edges) {
  const next = new Map();
  for (const edge of edges) next.set(edge.from, [...(next.get(edge.from) ?? []), edge.to]);
  const reachesByOthers = (from, to) => {
    const open = (next.get(from) ?? []).filter((node) => node !== to), seen = new Set(open);
    while (open.length) {
      for (const other of next.get(open.pop()) ?? []) {
        if (other === to) return true;
        if (!seen.has(other)) { seen.add(other); open.push(other); }
      }
    }
    return false;
  };
  return edges.filter((edge) => !reachesByOthers(edge.from, edge.to));
}

// The names on a longest path.
export function longestPath(names, edges) {
  const best = new Map();
  const from = (name) => {
    if (!best.has(name)) {
      const rest = edges.filter((edge) => edge.from === name).map((edge) => from(edge.to)).reduce((a, b) => (b.length > a.length ? b : a), []);
      best.set(name, [name, ...rest]);
    }
    return best.get(name);
  };
  return names.map(from).reduce((a, b) => (b.length > a.length ? b : a), []);
}

// A text in lines of about so many letters.
export function wrapped(text, letters) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last && last.length + 1 + word.length > letters) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines;
}

// nodes: {name, title, lines, colour, isNow}; edges: {from, to, isMarked}, by nodes' names. `tells(element, what, node or edge)` is called for each
// box with "node", and for each arrow with "edge".
export function drawLayers(nodes, edges, label, tells) {
  const shown = directEdges(edges), layerOf = new Map(), boxes = new Map(), layers = [];
  const layer = (name) => {
    if (!layerOf.has(name)) layerOf.set(name, 1 + Math.max(-1, ...shown.filter((edge) => edge.to === name).map((edge) => layer(edge.from))));
    return layerOf.get(name);
  };
  for (const node of nodes) {
    const box = { node, parents: [], h: 28 + 16 * node.lines.length,
      w: 26 + Math.max(7.6 * node.title.length, ...node.lines.map((line) => 6.4 * line.length)) };
    boxes.set(node.name, box);
    (layers[layer(node.name)] ??= []).push(box);
  }
  const routes = shown.map((edge) => {
    const route = [boxes.get(edge.from)];
    for (let number = layer(edge.from) + 1; number < layer(edge.to); ++number) {
      const gap = { w: 14, h: 0, parents: [route.at(-1)] };
      layers[number].push(gap);
      route.push(gap);
    }
    boxes.get(edge.to).parents.push(route.at(-1));
    return [...route, boxes.get(edge.to)];
  });
  let right = 0, y = 10;
  for (const row of layers) {
    const centre = (box) => (box.parents.length ? box.parents.reduce((sum, parent) => sum + parent.x + parent.w / 2, 0) / box.parents.length : 0);
    const bottom = y + Math.max(...row.map((box) => box.h));
    let x = 10;
    for (const box of row.sort((a, b) => centre(a) - centre(b))) {
      box.x = Math.max(x, Math.min(centre(box) - box.w / 2, x + 160));
      Object.assign(box, { top: y, bottom });
      x = box.x + box.w + 22;
      right = Math.max(right, x - 12);
    }
    y = bottom + 46;
  }
  const height = y - 36, tip = `tip-${label.replace(/\W/g, "-")}`;
  // Made smaller where there is less room, as far as it stays legible.
  const drawing = svgElement("svg", { style: `width:100%;max-width:${right}px;min-width:${Math.min(right, Math.max(320, right * .85))}px`,
    viewBox: `0 0 ${right} ${height}`, role: "group", "aria-label": label },
    svgElement("defs", {}, ...["plain", "marked"].map((kind) => svgElement("marker",
      { id: `${tip}-${kind}`, class: kind, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, orient: "auto", markerUnits: "userSpaceOnUse" },
      svgElement("path", { d: "M0 0L8 4L0 8z", fill: "currentColor" })))));
  // Several arrows of a box begin and end beside each other, within its width, in the order of where they lead or come from.
  const ends = new Map();
  const spread = (box, side, number, other) => { const key = `${box.node.name} ${side}`; ends.set(key, [...(ends.get(key) ?? []), { number, x: other.x + other.w / 2 }]); };
  routes.forEach((route, number) => { spread(route[0], "out", number, route[1]); spread(route.at(-1), "into", number, route.at(-2)); });
  ends.forEach((list) => list.sort((a, b) => a.x - b.x));
  const endOf = (box, side, number) => {
    const list = ends.get(`${box.node.name} ${side}`), place = list.findIndex((end) => end.number === number) - (list.length - 1) / 2;
    return box.x + box.w / 2 + place * Math.min(14, (box.w - 24) / list.length);
  };
  shown.forEach((edge, number) => {
    const [a, ...gaps] = routes[number], b = gaps.pop();
    let x = endOf(a, "out", number), at = a.bottom, path = `M${x} ${a.top + a.h}V${at}`;
    const to = (nextX, nextY) => { path += `C${x} ${at + 24} ${nextX} ${nextY - 24} ${nextX} ${nextY}`; x = nextX; at = nextY; };
    for (const gap of gaps) {
      to(gap.x + gap.w / 2, gap.top);
      at = gap.bottom;
      path += `V${at}`;
    }
    to(endOf(b, "into", number), b.top - 1);
    const link = svgElement("g", { class: `link${edge.isMarked ? " marked" : ""}` },
      svgElement("path", { d: path, class: "edge", "marker-end": `url(#${tip}-${edge.isMarked ? "marked" : "plain"})` }), svgElement("path", { d: path, class: "hit" }));
    tells(link, "edge", edge);
    drawing.append(link);
  });
  for (const node of nodes) {
    const box = boxes.get(node.name);
    const group = svgElement("g", { class: "node", style: `--own:${node.colour}` },
      svgElement("rect", { x: box.x, y: box.top, width: box.w, height: box.h, rx: 6, class: node.isNow ? "now" : "" }),
      svgElement("text", { x: box.x + 12, y: box.top + 19, class: "title" }, node.title),
      ...node.lines.map((line, i) => svgElement("text", { x: box.x + 12, y: box.top + 37 + 16 * i, class: "small" }, line)));
    tells(group, "node", node);
    drawing.append(group);
  }
  return drawing;
}
