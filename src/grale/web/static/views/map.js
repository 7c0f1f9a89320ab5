// A map of a set: near graphs are near each other. A file of molecules becomes a set.

import { busy, card, choice, el, field, notice } from "../dom.js";
import { post } from "../http.js";

const COLOURS = [["logP", "logP"], ["QED", "QED"], ["TPSA", "TPSA"], ["weight", "weight"], ["rings", "rings"], ["size", "number of atoms"]];
const OF_GRAPHS = [["size", "number of nodes"], ["edges", "number of edges"]];

function failures(found) {
  if (!found.failures.length) return null;
  const rows = found.failures.map((one) => el("tr", {}, el("td", {}, String(one.row)), el("td", { className: "smiles" }, one.entry), el("td", {}, one.reason)));
  return el("details", {}, el("summary", {}, `Rows not taken: ${found.num_rows - found.num_taken}`),
    el("table", {}, el("tr", {}, el("th", {}, "row"), el("th", {}, "entry"), el("th", {}, "reason")), ...rows));
}

// Properties that are computed, then columns of the file; a value is a part of an address.
function colours(computed, columns, chosen) {
  const made = choice(computed.map(([name, text]) => [`colour=${encodeURIComponent(name)}`, text]), chosen);
  const own = columns.map((name) => {
    const value = `column=${encodeURIComponent(name)}`;
    return el("option", { value, selected: value === chosen }, name);
  });
  if (own.length) made.append(el("optgroup", { label: "columns of the file" }, ...own));
  return made;
}

export function mapView(context) {
  const said = el("div");
  const frame = el("div", {}, el("p", { className: "muted" }, "Choose a set and draw its map. Point at a dot to see its graph."));
  const holder = el("div", { className: "stack" });
  let set = context.sets[context.sets.length - 1][0];
  let by = null;
  const columns = () => context.sets.find(([name]) => name === set)[2];
  const sets = () => {
    by = colours(context.model.is_molecular ? COLOURS : OF_GRAPHS, columns(), by?.value);
    holder.replaceChildren(field("Set", choice(context.sets, set, (chosen) => { set = chosen; sets(); })), field("Coloured by", by));
  };
  async function draw() {
    frame.replaceChildren(busy("describing and drawing; the first time this takes a while"));
    const address = `/play/map?set=${encodeURIComponent(set)}&${by.value}`;
    try {
      const response = await fetch(address);
      if (!response.ok) throw new Error((await response.json()).error);
      await response.text(); // an answer that is not read keeps its connection
      const waiting = busy("opening the map"); // until the frame has something to show
      frame.replaceChildren(waiting, el("iframe", { title: "map", sandbox: "allow-scripts allow-downloads", src: address,
        onload: () => waiting.remove() }));
    } catch (error) {
      frame.replaceChildren(notice(error.message));
    }
  }
  const file = el("input", { type: "file", accept: ".csv,.tsv,.smi,.sdf,.txt", onchange: async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    said.replaceChildren(busy(`reading ${chosen.name}`));
    try {
      if (chosen.size > context.model.limits.max_body / 2) throw new Error(`${chosen.name} is too large; use grale embed and grale map`);
      const found = await post("/play/files", { name: chosen.name, text: await chosen.text() });
      context.sets.push([found.set, found.title, found.columns]);
      set = found.set;
      sets();
      said.replaceChildren(el("p", {}, `${found.title}: ${found.num_taken} of ${found.num_rows} rows`), failures(found) ?? "");
      await draw();
    } catch (error) {
      said.replaceChildren(notice(error.message));
    }
    file.value = "";
  } });
  sets();
  const upload = context.model.is_molecular ? el("label", { className: "file" }, "Upload a file", file) : null;
  const hint = context.model.is_molecular ? el("p", { className: "muted small" },
    `csv, tsv, smi or sdf with up to ${context.model.limits.max_set_rows} molecules. It stays on this machine, and is forgotten when the server stops.`) : null;
  const settings = card("What to draw", el("div", { className: "fields" }, holder,
    el("button", { type: "button", className: "primary", onclick: draw }, "Draw the map"), upload, hint, said));
  return [settings, card("Map", frame)];
}
