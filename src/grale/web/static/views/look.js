// One graph: what comes back from its vector, the vector itself, and its neighbours.

import { badge, busy, card, choice, el, latest, notice, number, picture } from "../dom.js";
import { firstRow, pictures, post } from "../http.js";

const ROWS = 8; // of the strip

function colourOf(share) {
  // blue below zero, red above
  const light = Math.round(255 - 205 * Math.min(1, Math.abs(share)));
  return share < 0 ? [light, Math.round(light * 0.35 + 165), 255] : [255, Math.round(light * 0.6 + 95), light];
}

function strip(vector) {
  const width = Math.ceil(vector.length / ROWS);
  const canvas = el("canvas", { width, height: ROWS, className: "strip", role: "img",
    "aria-label": `${vector.length} numbers as colours` });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, ROWS);
  const most = Math.max(...vector.map(Math.abs), 1e-9);
  vector.forEach((value, place) => {
    const [red, green, blue] = colourOf(value / most);
    image.data.set([red, green, blue, 255], 4 * place);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

function vectorCard(graph, signal) {
  const body = el("div", {}, busy("encoding"));
  const made = card("Vector", body);
  const copy = el("button", { type: "button", className: "chip", disabled: true }, "Copy as JSON");
  async function fill(reading) {
    body.replaceChildren(busy("encoding"));
    try {
      const path = reading === "latent" ? "/encode" : "/describe";
      const { vector } = await firstRow(path, { graphs: [graph] }, signal);
      const low = Math.min(...vector), high = Math.max(...vector);
      body.replaceChildren(strip(vector), el("p", { className: "muted small" },
        `${vector.length} numbers from ${number(low)} (blue) to ${number(high)} (red). ` +
        (reading === "latent" ? "They decode to the graph." : "Similar graphs have near ones; they do not decode.")));
      copy.disabled = false;
      copy.onclick = async () => {
        await navigator.clipboard.writeText(JSON.stringify(vector));
        copy.textContent = "Copied";
      };
    } catch (error) {
      if (error.name !== "AbortError") body.replaceChildren(notice(error.message));
    }
  }
  const readings = [["latent", "latent (decodes)"], ["description", "description (compares)"]];
  made.head.append(el("span", { className: "spacer" }), copy, choice(readings, "latent", fill));
  fill("latent");
  return made;
}

function againCard(graph, signal) {
  const body = el("div", {}, busy("decoding"));
  const made = card("Back from the vector", body);
  (async () => {
    const row = await firstRow("/reconstruct", { graphs: [graph] }, signal);
    const [before, after] = await pictures([graph, row.smiles || row.graph], {}, signal);
    const edits = `${row.edit_distance} ${row.edit_distance === 1 ? "edit" : "edits"} away`;
    made.head.append(badge(row.exact ? "exact" : edits, row.exact));
    if (row.status === "invalid") made.head.append(badge("not a valid molecule", false));
    const drawn = (of, alt, text) => el("figure", {}, picture(of, alt, "framed"),
      el("figcaption", { className: "smiles" }, text || ""));
    body.replaceChildren(el("div", { className: "arrow" }, drawn(before.svg, "the graph", before.smiles || "in"),
      el("span", {}, "→"), drawn(after.svg, "its reconstruction", row.smiles || "out")));
  })().catch((error) => error.name !== "AbortError" && body.replaceChildren(notice(error.message)));
  return made;
}

function neighboursCard(graph, context, choose, signal) {
  const body = el("div");
  const made = card("Neighbours", body);
  async function fill(set) {
    body.replaceChildren(busy("looking; the first time, the examples are described"));
    try {
      const found = await post("/play/neighbours", { graph, set }, signal);
      if (found.status !== "ok") throw new Error(found.reason);
      const tiles = found.rows.map((row) => el("button", { type: "button", className: "tile",
        onclick: () => choose(row.smiles && context.model.is_molecular ? row.smiles : row.graph) },
        picture(row.svg, row.smiles || "a graph"), el("div", { className: "text" },
          `distance ${number(row.distance)}`, context.model.is_molecular ? el("div", { className: "smiles" }, row.smiles) : null)));
      body.replaceChildren(el("div", { className: "grid" }, ...tiles));
    } catch (error) {
      if (error.name !== "AbortError") body.replaceChildren(notice(error.message));
    }
  }
  const last = context.sets[context.sets.length - 1][0];
  made.head.append(el("span", { className: "spacer" }), el("span", { className: "muted small" }, "in"),
    choice(context.sets, last, fill));
  fill(last);
  return made;
}

export function lookView(context) {
  const results = el("div", { className: "stack" });
  const show = latest(async (signal, graph) => {
    if (graph === null) { // what was shown is of another molecule
      results.replaceChildren();
      return;
    }
    const choose = (other) => { input.set(other); scrollTo({ top: 0, behavior: "smooth" }); };
    results.replaceChildren(againCard(graph, signal), vectorCard(graph, signal),
      neighboursCard(graph, context, choose, signal));
  });
  const input = context.input(context.model.is_molecular ? "Molecule" : "Graph", 0, show);
  return [el("div", { className: "stack" }, input.element), results];
}
