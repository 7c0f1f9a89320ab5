// Raise or lower a property of a graph, as long as it stays similar to the start.

import { badge, busy, card, choice, el, field, latest, notice, number, picture } from "../dom.js";
import { firstRow, pictures } from "../http.js";

const OF_MOLECULES = [["logP", "logP (solubility in fat)"], ["QED", "QED (drug-likeness)"], ["TPSA", "TPSA (polar surface)"],
  ["weight", "weight"], ["rings", "rings"], ["size", "number of atoms"]];
const OF_GRAPHS = [["size", "number of nodes"], ["edges", "number of edges"]];

function results(row, drawn, wanted, direction, context) {
  const sign = direction === "raise" ? 1 : -1;
  const values = row.points.map((point) => (point.value === null ? -Infinity : sign * point.value));
  const best = values.indexOf(Math.max(...values));
  const tiles = row.points.map((point, place) => el("div", { className: `tile ${place === best ? "best" : ""}` },
    picture(drawn[place].svg, point.smiles || "a graph"),
    el("div", { className: "text" }, el("strong", {}, `${wanted} ${number(point.value)}`),
      ` · ${Math.round(100 * point.similarity)} % similar`, place === 0 ? el("div", {}, badge("start", true)) : place === best ? el("div", {}, badge("best", true)) : null,
      context.model.is_molecular ? el("div", { className: "smiles" }, point.smiles) : null)));
  const none = best === 0 ? `Nothing on the way has a ${direction === "raise" ? "higher" : "lower"} ${wanted} than the start. ` : "";
  const outside = row.left_out === 1 ? "1 graph was" : `${row.left_out} graphs were`;
  const left = row.left_out ? ` ${outside} left out: not similar enough, or not valid.` : "";
  return [el("div", { className: "grid" }, ...tiles), el("p", { className: "muted small" },
    `${none}The predictor that was followed explains ${Math.round(100 * row.r2)} % of the variance on graphs it did not see.${left}`)];
}

export function changeView(context) {
  const input = context.input(context.model.is_molecular ? "Molecule" : "Graph", 0);
  const options = context.model.is_molecular ? OF_MOLECULES : OF_GRAPHS;
  const wanted = choice(options, options[0][0]);
  const direction = choice([["raise", "raise"], ["lower", "lower"]], "raise");
  const limit = el("output", {}, "30 %");
  const least = el("input", { type: "range", min: 0, max: 90, step: 5, value: 30,
    oninput: () => { limit.textContent = `${least.value} %`; } });
  const body = el("div", { className: "stack" }, el("p", { className: "muted" },
    "The vector moves along the gradient of a predictor of the property; each step is decoded. Distinct results appear here, the start first; beside the one before, green is new and amber became another kind."));
  const go = el("button", { type: "button", className: "primary", onclick: latest(async (signal) => {
    go.disabled = true;
    body.replaceChildren(busy("changing it; the first time, a predictor is trained"));
    try {
      const asked = { graphs: [input.value()], property: wanted.value, direction: direction.value,
        min_similarity: Number(least.value) / 100 };
      const row = await firstRow("/edit", asked, signal);
      const drawn = row.points.length ? await pictures(row.points.map((point) =>
        point.smiles && context.model.is_molecular ? point.smiles : point.graph).slice(0, 64), { strip: true }, signal) : [];
      row.points = row.points.slice(0, 64);
      body.replaceChildren(...results(row, drawn, wanted.value, direction.value, context));
    } catch (error) {
      body.replaceChildren(notice(error.message));
    } finally {
      go.disabled = false;
    }
  }) }, "Change it");
  const settings = card("What to change", el("div", { className: "fields" }, field("Property", wanted), field("Direction", direction),
    field(el("span", {}, "At least this similar: ", limit), least), go));
  return [el("div", { className: "stack" }, input.element, settings), card("On the way", body)];
}
