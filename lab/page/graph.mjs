// Draws the blocks of the global dependency graph, predecessors above, with the arrows that no others imply.
import { drawLayers } from "../../experiments/page/graph.mjs";

// `now`: the block at work, or null. `why`: gets an arrow's reasons.
export function drawGraph(place, why, graph, now, colour) {
  const nameOf = (number) => graph.blocks[number].name;
  const short = (line) => (line.length > 46 ? `${line.slice(0, 45)}…` : line);
  const nodes = graph.blocks.map((block, number) => ({ name: block.name, title: `block ${block.name}`, colour: colour(number), isNow: number === now,
    lines: [block.tables.join(", "), block.members.map((member) => `${member.procedure}: ${member.slice}`).join(", ")].map(short) }));
  const edges = graph.edges.map((edge) => ({ ...edge, from: nameOf(edge.from), to: nameOf(edge.to) }));
  const drawing = drawLayers(nodes, edges, "blocks and the arrows between them", (element, what, edge) => {
    if (what !== "edge") return;
    const title = `${edge.from} before ${edge.to}`;
    for (const [name, value] of Object.entries({ tabindex: 0, role: "button", "aria-label": title })) element.setAttribute(name, value);
    const tell = () => {
      drawing.querySelectorAll(".chosen").forEach((other) => other.classList.remove("chosen"));
      element.classList.add("chosen");
      const reasons = document.createElement("ul");
      for (const reason of edge.reasons) { const item = document.createElement("li"); item.textContent = reason; reasons.append(item); }
      const strong = document.createElement("strong");
      strong.textContent = title;
      why.replaceChildren(strong, reasons);
    };
    for (const event of ["click", "focus", "pointerenter"]) element.addEventListener(event, tell);
  });
  place.replaceChildren(drawing);
}
