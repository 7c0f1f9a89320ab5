// New graphs from the prior of the model, with conditions.

import { badge, busy, card, el, field, latest, notice, picture } from "../dom.js";
import { pictures, post } from "../http.js";

function tile(row, drawn, molecular) {
  const marks = [row.status === "ok" ? null : badge("not valid", false), row.meets || row.status !== "ok" ? null : badge("not as asked", false)];
  return el("div", { className: "tile" }, picture(drawn.svg, row.smiles || "a graph"),
    el("div", { className: "text" }, ...marks, molecular && row.smiles ? el("div", { className: "smiles" }, row.smiles) : null));
}

export function drawView(context) {
  const { model } = context;
  const count = el("input", { type: "number", min: 1, max: 64, value: 12 });
  const wanted = el("input", { type: "text", placeholder: "size=12, logP<3", "aria-describedby": "known" });
  const body = el("div", { className: "stack" }, el("p", { className: "muted" },
    "Noise is turned into vectors by the prior, and each vector is decoded. Every click draws others."));
  let seed = 0;
  const go = el("button", { type: "button", className: "primary", onclick: latest(async (signal) => {
    go.disabled = true;
    body.replaceChildren(busy("drawing"));
    try {
      const where = wanted.value.split(",").map((text) => text.trim()).filter((text) => text);
      const { rows } = await post("/sample", { count: Number(count.value), where, seed: seed++ }, signal);
      const drawn = await pictures(rows.map((row) => row.smiles && model.is_molecular ? row.smiles : row.graph), {}, signal);
      body.replaceChildren(el("div", { className: "grid" }, ...rows.map((row, place) => tile(row, drawn[place], model.is_molecular))));
    } catch (error) {
      body.replaceChildren(notice(error.message));
    } finally {
      go.disabled = false;
    }
  }) }, "Draw");
  const known = el("span", { id: "known", className: "muted small" }, `Known: ${model.conditions.join(", ")}`);
  const settings = card("What to draw", el("div", { className: "fields" }, field("How many", count), field("Wanted", wanted), known, go));
  return [settings, card("New", body)];
}
