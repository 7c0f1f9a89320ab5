// A molecule: pasted as SMILES, drawn in OpenChemLib's editor, or one of the examples.

import { el, notice, picture, soon, latest } from "./dom.js";
import { pictures } from "./http.js";

const EXAMPLES = [
  ["aspirin", "CC(=O)Oc1ccccc1C(=O)O"],
  ["caffeine", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"],
  ["paracetamol", "CC(=O)Nc1ccc(O)cc1"],
  ["ibuprofen", "CC(C)Cc1ccc(cc1)C(C)C(=O)O"],
  ["nicotine", "CN1CCCC1c1cccnc1"],
];
let chemistry = null;
let drawing = null;

// The editor is large, so it is loaded when it is first opened.
async function openEditor(smiles, use) {
  const dialog = document.getElementById("editor");
  dialog.showModal();
  if (!chemistry) chemistry = await import("/static/vendor/openchemlib.js");
  if (!drawing) drawing = new chemistry.CanvasEditor(document.getElementById("editor-canvas"));
  let molecule = new chemistry.Molecule(0, 0);
  try {
    if (smiles.trim()) molecule = chemistry.Molecule.fromSmiles(smiles.trim());
  } catch {
    // begin with nothing
  }
  drawing.setMolecule(molecule);
  document.getElementById("editor-use").onclick = () => {
    dialog.close();
    use(drawing.getMolecule().toSmiles());
  };
  document.getElementById("editor-cancel").onclick = () => dialog.close();
}

export function moleculeInput({ title, start, changed }) {
  const problem = el("div");
  const shown = picture("", "", "framed");
  const text = el("input", {
    type: "text", value: start, spellcheck: false, autocapitalize: "off", autocomplete: "off",
    className: "smiles", "aria-label": `${title} as SMILES`, placeholder: "SMILES",
  });
  const show = latest(async (signal) => {
    const smiles = text.value;
    try {
      const [row] = await pictures([smiles], {}, signal);
      problem.replaceChildren(...(row.status === "ok" ? [] : [notice(row.reason)]));
      shown.src = row.svg ? picture(row.svg, "").src : "";
      shown.alt = smiles;
      shown.hidden = !row.svg;
      changed(row.status === "ok" ? smiles : null);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      problem.replaceChildren(notice(error.message));
    }
  });
  const set = (smiles) => { text.value = smiles; show(); };
  text.addEventListener("input", soon(show));
  const draw = el("button", { type: "button", onclick: () => openEditor(text.value, set) }, "Draw");
  shown.addEventListener("click", () => openEditor(text.value, set));
  const chips = EXAMPLES.map(([name, smiles]) =>
    el("button", { type: "button", className: "chip", onclick: () => set(smiles) }, name));
  const element = el("section", { className: "card input" },
    el("div", { className: "head" }, el("h2", {}, title)),
    el("div", { className: "row" }, text, draw), problem, shown, el("div", { className: "chips" }, ...chips));
  show();
  return { element, value: () => text.value, set };
}
