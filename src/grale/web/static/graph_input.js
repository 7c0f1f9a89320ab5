// A graph drawn by hand: click to add nodes, click two nodes to join or part them.

import { el } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const RADIUS = 0.1;

function shape(tag, values, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(values)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function onCircle(count) {
  return [...Array(count).keys()].map((node) => {
    const angle = (2 * Math.PI * node) / count;
    return [0.8 * Math.sin(angle), -0.8 * Math.cos(angle)];
  });
}

// A few rounds of springs, so that an example does not look like a ball of wool.
function spread(graph) {
  const places = onCircle(graph.node_labels.length);
  const joined = new Set(graph.edges.map(([a, b]) => `${a} ${b}`));
  for (let round = 0; round < 300; round++) {
    for (let a = 0; a < places.length; a++) {
      for (let b = 0; b < a; b++) {
        const dx = places[a][0] - places[b][0], dy = places[a][1] - places[b][1];
        const length = Math.hypot(dx, dy) || 0.01;
        const near = joined.has(`${b} ${a}`) || joined.has(`${a} ${b}`);
        const push = 0.02 * ((near ? 0.55 : 1.15) - length) * (near || length < 1.15 ? 1 : 0);
        places[a][0] += (push * dx) / length; places[a][1] += (push * dy) / length;
        places[b][0] -= (push * dx) / length; places[b][1] -= (push * dy) / length;
      }
    }
  }
  const most = Math.max(...places.flat().map(Math.abs), 0.01);
  return places.map(([x, y]) => [(0.82 * x) / most, (0.82 * y) / most]);
}

export function graphInput({ title, start, changed, model, look }) {
  let nodes = [], edges = new Map(), picked = null, label = 0, kind = 1, erasing = false, example = 0;
  const board = shape("svg", { viewBox: "-1.33 -1 2.66 2", class: "graph-board", role: "application",
    "aria-label": `${title}: click to add a node, click two nodes to join them` });
  const key = (a, b) => (model.directed ? `${a} ${b}` : `${Math.min(a, b)} ${Math.max(a, b)}`);
  const colour = (of) => `rgb(${look.palette[of % look.palette.length].join(",")})`;

  const ink = (of) => {
    const [red, green, blue] = look.palette[of % look.palette.length];
    return 0.3 * red + 0.6 * green + 0.1 * blue > 150 ? "#1f2937" : "#fff";
  };

  function value() {
    const pairs = [...edges.keys()].map((text) => text.split(" ").map(Number));
    return { node_labels: nodes.map((node) => node.label), edges: pairs,
      edge_labels: [...edges.values()], directed: model.directed };
  }
  function draw() {
    board.replaceChildren();
    for (const [text, of] of edges) {
      const [a, b] = text.split(" ").map(Number);
      board.append(shape("line", { x1: nodes[a].x, y1: nodes[a].y, x2: nodes[b].x, y2: nodes[b].y,
        stroke: "#6b7280", "stroke-width": 0.015 + 0.02 * of }));
    }
    nodes.forEach((node, place) => {
      board.append(shape("circle", { cx: node.x, cy: node.y, r: RADIUS, fill: colour(node.label),
        stroke: place === picked ? "#e8590c" : "#1f2937", "stroke-width": place === picked ? 0.04 : 0.012,
        "data-node": place }));
      board.append(shape("text", { x: node.x, y: node.y + 0.04, "text-anchor": "middle", fill: ink(node.label) }, place));
    });
    count.textContent = `${nodes.length} of ${model.max_nodes} nodes, ${edges.size} edges`;
  }
  function touched() {
    draw();
    if (nodes.length) changed(value());
  }
  function remove(gone) {
    const kept = [...edges].filter(([text]) => !text.split(" ").map(Number).includes(gone));
    const after = (node) => (node > gone ? node - 1 : node);
    edges = new Map(kept.map(([text, of]) => [text.split(" ").map(Number).map(after).join(" "), of]));
    nodes.splice(gone, 1);
    picked = null;
  }
  function clickedNode(place) {
    if (erasing) remove(place);
    else if (picked === null) { picked = place; draw(); return; }
    else if (picked === place) { nodes[place].label = label; picked = null; }
    else {
      const text = key(picked, place);
      if (edges.get(text) === kind) edges.delete(text);
      else edges.set(text, kind);
      picked = null;
    }
    touched();
  }
  board.addEventListener("click", (event) => {
    const place = event.target.dataset ? event.target.dataset.node : undefined;
    if (place !== undefined) return clickedNode(Number(place));
    if (picked !== null) { picked = null; return draw(); }
    if (erasing || nodes.length >= model.max_nodes) return undefined;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(board.getScreenCTM().inverse());
    nodes.push({ x: at.x, y: at.y, label });
    return touched();
  });
  function set(graph) {
    const places = spread(graph);
    nodes = graph.node_labels.map((of, place) => ({ x: places[place][0], y: places[place][1], label: of }));
    edges = new Map(graph.edges.map(([a, b], place) => [key(a, b), graph.edge_labels[place]]));
    picked = null;
    touched();
  }
  const pressed = (buttons, chosen) => buttons.forEach((button, place) =>
    button.setAttribute("aria-pressed", place === chosen));
  const swatches = look.nodes.map((name, of) => el("button", { type: "button", className: "swatch",
    title: name, "aria-label": name,
    onclick: () => { label = of; pressed(swatches, of); } }));
  swatches.forEach((swatch, of) => { swatch.style.background = colour(of); });
  const kinds = look.edges.length > 2 ? look.edges.slice(1).map((name, of) => el("button", { type: "button",
    className: "mode chip", onclick: () => { kind = of + 1; pressed(kinds, of); } }, name)) : [];
  const eraser = el("button", { type: "button", className: "mode chip", onclick: () => {
    erasing = !erasing; eraser.setAttribute("aria-pressed", erasing); } }, "Erase nodes");
  const count = el("span", { className: "muted small" });
  const another = el("button", { type: "button", className: "chip", onclick: () => {
    example = (example + 1) % look.examples.length; set(look.examples[example]); } }, "Another example");
  const clear = el("button", { type: "button", className: "chip", onclick: () => {
    nodes = []; edges = new Map(); picked = null; draw(); } }, "Clear");
  pressed(swatches, 0); pressed(kinds, 0);
  const element = el("section", { className: "card input" },
    el("div", { className: "head" }, el("h2", {}, title), el("span", { className: "spacer" }), count), board,
    el("div", { className: "chips", "aria-label": "label of the next node" }, ...swatches),
    el("div", { className: "chips" }, ...kinds, eraser, clear, look.examples.length ? another : null),
    el("p", { className: "muted small" }, "Click the board to add a node. Click two nodes to join or part them, one node twice to give it the chosen label."));
  if (start) set(start);
  else draw();
  return { element, value, set };
}
