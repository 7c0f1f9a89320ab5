// New graphs from the prior of the model, with conditions.

import { badge, busy, card, el, field, latest, notice, picture } from "../dom.js";
import { pictures, post } from "../http.js";

// A tile; a click on a valid one looks at it.
function tile(row, drawn, context) {
  const isValid = row.status === "ok", molecular = context.model.is_molecular;
  const text = isValid
    ? [row.meets ? null : badge("not as asked", false), molecular ? el("div", { className: "smiles" }, row.smiles) : null]
    : [badge("not valid", false), el("div", { className: "muted" }, row.reason)];
  const shown = [picture(drawn.svg, row.smiles || "a graph"), el("div", { className: "text" }, ...text)];
  if (!isValid) return el("div", { className: "tile" }, ...shown);
  return el("button", { type: "button", className: "tile", title: "Look at it", onclick: () => {
    context.inputs[0] = molecular ? row.smiles : row.graph;
    location.hash = "look";
  } }, ...shown);
}

function summary(rows) {
  const valid = rows.filter((row) => row.status === "ok").length;
  const met = rows.filter((row) => row.status === "ok" && row.meets).length;
  return el("p", { className: "muted" }, `${valid} of ${rows.length} are valid` + (met < valid ? `, ${met} of them as asked.` : "."));
}

export function drawView(context) {
  const { model } = context;
  const count = el("input", { type: "number", min: 1, max: 64, value: 12, required: true });
  const wanted = el("input", { type: "text", placeholder: model.conditions.includes("logP") ? "logP<3, QED>0.6" : "size<12", "aria-describedby": "known" });
  const body = el("div", { className: "stack" }, el("p", { className: "muted" },
    "Noise is turned into vectors by the prior, and each vector is decoded. Every click draws others."));
  let seed = 0;
  const go = el("button", { type: "button", className: "primary", onclick: latest(async (signal) => {
    if (!count.reportValidity()) return; // the browser says what is allowed
    go.disabled = true;
    body.replaceChildren(busy("drawing"));
    try {
      const where = wanted.value.split(",").map((text) => text.trim()).filter((text) => text);
      const { rows } = await post("/sample", { count: Number(count.value), where, seed: seed++ }, signal);
      const drawn = await pictures(rows.map((row) => row.smiles && model.is_molecular ? row.smiles : row.graph), {}, signal);
      body.replaceChildren(summary(rows), el("div", { className: "grid" }, ...rows.map((row, place) => tile(row, drawn[place], context))));
    } catch (error) {
      body.replaceChildren(notice(error.message));
    } finally {
      go.disabled = false;
    }
  }) }, "Draw");
  const known = el("span", { id: "known", className: "muted small" }, `Known: ${model.conditions.join(", ")}. The model aims at what is wanted, and can miss it.`);
  const settings = card("What to draw", el("div", { className: "fields" }, field("How many", count), field("Wanted", wanted), known, go));
  return [settings, card("New", body)];
}
