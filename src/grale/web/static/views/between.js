// Two graphs and a slider: what lies on the line between their vectors.

import { busy, card, el, latest, notice, picture } from "../dom.js";
import { firstRow, pictures } from "../http.js";

const STEPS = 11;

function film(points, drawn, context) {
  const large = picture("", "", "framed");
  const caption = el("figcaption", { className: "smiles", role: "status" });
  const tiles = points.map((point, place) => el("button", { type: "button", className: "tile",
    onclick: () => choose(place) }, picture(drawn[place].svg, point.smiles || "a graph"),
    el("div", { className: "text" }, `${Math.round(100 * point.position)} %`)));
  const slider = el("input", { type: "range", min: 0, max: points.length - 1, value: 0,
    "aria-label": "position between the two", oninput: () => choose(Number(slider.value)) });
  function choose(place) {
    const point = points[place];
    const size = `${point.graph.node_labels.length} nodes, ${point.graph.edges.length} edges`;
    const text = context.model.is_molecular ? point.smiles || "not a valid molecule; its graph is drawn" : size;
    slider.value = place;
    large.src = picture(drawn[place].svg, "").src;
    large.alt = text;
    caption.textContent = `${Math.round(100 * point.position)} %   ${text}`;
    tiles.forEach((tile, other) => tile.setAttribute("aria-current", other === place));
    const tile = tiles[place]; // seen in the row, without moving the page
    row.scrollLeft = tile.offsetLeft - row.offsetLeft - (row.clientWidth - tile.offsetWidth) / 2;
  }
  const row = el("div", { className: "film" }, ...tiles);
  choose(0);
  return [el("figure", { className: "stage" }, large, caption), slider, row];
}

export function betweenView(context) {
  const body = el("div", { className: "stack" }, el("p", { className: "muted" },
    "Eleven points on the straight line between the two vectors are decoded. Half way between two molecules there is rarely a molecule: where none was found, the graph is drawn. What a picture shares with the one before keeps its place; green is new, amber became another kind."));
  const inputs = [context.input("From", 0), context.input("To", 1)];
  const go = el("button", { type: "button", className: "primary", onclick: latest(async (signal) => {
    go.disabled = true;
    body.replaceChildren(busy("decoding the points between"));
    try {
      const pair = inputs.map((input) => input.value());
      const { points } = await firstRow("/interpolate", { pairs: [pair], steps: STEPS }, signal);
      const drawn = await pictures(points.map((point) => point.smiles && context.model.is_molecular ? point.smiles : point.graph), { strip: true }, signal);
      body.replaceChildren(...film(points, drawn, context));
    } catch (error) {
      body.replaceChildren(notice(error.message));
    } finally {
      go.disabled = false;
    }
  }) }, "Walk from one to the other");
  const made = card("Between", body);
  made.head.append(el("span", { className: "spacer" }), go);
  made.classList.add("wide");
  return [el("div", { className: "pair wide" }, ...inputs.map((input) => input.element)), made];
}
