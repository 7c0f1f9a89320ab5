// Two graphs, which node plays which, and the edits between them.

import { badge, busy, card, choice, el, latest, notice, picture } from "../dom.js";
import { firstRow, pictures } from "../http.js";

const METHODS = [["grale+tabu", "learned, then search"], ["grale", "learned alone"], ["tabu", "search alone"], ["exact", "exact, up to 2 s"]];

function inWords(edit, look, molecular) {
  const [thing, link] = molecular ? ["atom", "bond"] : ["node", "edge"];
  const isNode = edit.where.length === 1;
  const names = isNode ? look.nodes : look.edges;
  const place = isNode ? `${thing} ${edit.where[0]}` : `${link} ${edit.where.join("–")}`;
  const name = (label) => names[label] ?? `label ${label}`;
  if (edit.before === null) return `insert ${place}: ${name(edit.after)}`;
  if (edit.after === null) return `delete ${place}: ${name(edit.before)}`;
  return `change ${place}: ${name(edit.before)} → ${name(edit.after)}`;
}

// Nodes that an edit touches, in the first graph and in the second.
function changedNodes(row, sizes) {
  const partner = new Map(row.mapping.map((other, node) => [node, other]));
  const taken = new Set(row.mapping);
  const inserted = [...Array(sizes[1]).keys()].filter((node) => !taken.has(node));
  inserted.forEach((node, rank) => partner.set(sizes[0] + rank, node));
  const touched = [...new Set(row.edits.flatMap((edit) => edit.where))];
  return [touched.filter((node) => node < sizes[0]),
    touched.map((node) => partner.get(node)).filter((node) => node !== undefined && node >= 0)];
}

export function matchView(context) {
  const body = el("div", { className: "stack" }, el("p", { className: "muted" },
    "Which node of one graph plays which of the other, and the edits that turn the first into the second. Nodes that an edit touches are marked."));
  const inputs = [context.input("First", 0), context.input("Second", 1)];
  const method = choice(METHODS, "grale+tabu");
  const made = card("Match", body);
  const verdict = el("span");
  const go = el("button", { type: "button", className: "primary", onclick: latest(async (signal) => {
    go.disabled = true;
    verdict.replaceChildren();
    body.replaceChildren(busy("matching"));
    try {
      const pair = inputs.map((input) => input.value());
      const limit = method.value === "exact" ? 2 : 0.2;
      const row = await firstRow("/match", { pairs: [pair], method: method.value, time_limit: limit }, signal);
      const plain = await pictures(pair, {}, signal);
      const changed = changedNodes(row, plain.map((one) => one.num_nodes));
      const drawn = await pictures(pair, { changed, numbered: true }, signal);
      const edits = `${row.edit_distance} ${row.edit_distance === 1 ? "edit" : "edits"}`;
      verdict.replaceChildren(badge(row.is_optimal ? `${edits}, no fewer possible` : `at most ${edits}`, row.is_optimal));
      const partners = row.mapping.map((other, node) => `${node}→${other < 0 ? "none" : other}`).join("   ");
      const items = row.edits.map((edit) => el("li", {}, inWords(edit, context.look, context.model.is_molecular)));
      body.replaceChildren(
        el("div", { className: "pair" }, ...drawn.map((one, place) => el("figure", {}, picture(one.svg, `graph ${place + 1}`, "framed"),
          el("figcaption", { className: "smiles" }, context.model.is_molecular ? one.smiles : `${one.num_nodes} nodes`)))),
        items.length ? el("ul", { className: "edits" }, ...items) : el("p", {}, "The two are the same graph."),
        el("details", {}, el("summary", {}, "Who plays whom"), el("p", { className: "smiles" }, partners)));
    } catch (error) {
      body.replaceChildren(notice(error.message));
    } finally {
      go.disabled = false;
    }
  }) }, "Match them");
  made.head.append(verdict, el("span", { className: "spacer" }), method, go);
  made.classList.add("wide");
  return [el("div", { className: "pair wide" }, ...inputs.map((input) => input.element)), made];
}
