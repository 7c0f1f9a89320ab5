// The page: tabs, the model in the header, one view at a time.

import { el, notice } from "./dom.js";
import { get } from "./http.js";
import { graphInput } from "./graph_input.js";
import { moleculeInput } from "./molecule_input.js";
import { betweenView } from "./views/between.js";
import { changeView } from "./views/change.js";
import { drawView } from "./views/draw.js";
import { lookView } from "./views/look.js";
import { mapView } from "./views/map.js";
import { matchView } from "./views/match.js";

const VIEWS = { look: ["Look", lookView], between: ["Between", betweenView], change: ["Change", changeView],
  match: ["Match", matchView], map: ["Map", mapView], draw: ["Draw", drawView] };
const STARTS = ["CC(=O)Nc1ccc(O)cc1", "CCOC(=O)c1ccccc1"];

function show(name, context) {
  for (const tab of document.querySelectorAll("[role=tab]")) tab.setAttribute("aria-selected", tab.dataset.view === name);
  document.getElementById("view").replaceChildren(...VIEWS[name][1](context));
}

async function begin() {
  const [model, look] = await Promise.all([get("/model"), get("/play/look")]);
  const starts = model.is_molecular ? STARTS : look.examples.slice(0, 2);
  const context = { model, look, sets: [["built-in", "examples of grale", []]] };
  context.inputs = [...starts];
  // both kinds of input give a SMILES or a graph, and remember it from view to view
  context.input = (title, place, changed = () => {}) => {
    const make = model.is_molecular ? moleculeInput : graphInput;
    const keep = (value) => { // null: refused
      if (value !== null) context.inputs[place] = value;
      changed(value);
    };
    return make({ title, start: context.inputs[place], changed: keep, model, look });
  };
  const { name, version, fingerprint } = model.model;
  const label = document.getElementById("model");
  label.replaceChildren(el("strong", {}, version ? `${name}@${version}` : name),
    `up to ${model.max_nodes} ${model.is_molecular ? "heavy atoms" : "nodes"}`);
  label.title = fingerprint ? `fingerprint ${fingerprint}` : "";
  document.getElementById("about").textContent =
    `grale ${model.package}. Everything stays on this machine.`;
  const views = Object.keys(VIEWS).filter((view) => view !== "draw" || model.can.sample);
  const open = () => show(views.includes(location.hash.slice(1)) ? location.hash.slice(1) : "look", context);
  const tabs = views.map((view) =>
    el("button", { type: "button", role: "tab", "data-view": view, onclick: () => { location.hash = view; } }, VIEWS[view][0]));
  document.getElementById("tabs").replaceChildren(...tabs);
  addEventListener("hashchange", open);
  open();
}

begin().catch((error) => document.getElementById("view").replaceChildren(notice(error.message)));
