// The API as its own description lists it, with an example for each route.

import { card, el, notice } from "./dom.js";
import { get } from "./http.js";

const resolve = (root, reference) => reference.split("/").slice(1).reduce((at, name) => at[name], root);

function fields(root, schema) {
  return Object.entries(schema.properties ?? {}).map(([name, value]) => {
    const range = ["minimum", "maximum"].filter((key) => key in value).map((key) => `${key} ${value[key]}`);
    const fixed = "default" in value && value.default !== null ? [`default ${JSON.stringify(value.default)}`] : [];
    const choices = value.enum ? [value.enum.join(", ")] : [];
    const needed = (schema.required ?? []).includes(name) ? ["required"] : [];
    return el("tr", {}, el("td", { className: "smiles" }, name), el("td", {}, [...needed, ...fixed, ...range, ...choices].join("; "),
      value.description ? el("div", { className: "muted" }, value.description) : null));
  });
}

function route(root, path, method, about) {
  const made = card(`${method.toUpperCase()} ${path}`, el("p", {}, about.description ?? ""));
  const content = about.requestBody?.content?.["application/json"]?.schema;
  if (!content) {
    made.append(el("p", {}, el("a", { href: path }, path)));
    return made;
  }
  const schema = content.$ref ? resolve(root, content.$ref) : content;
  const example = JSON.stringify(schema.examples?.[0] ?? {});
  made.append(el("table", {}, ...fields(root, schema)),
    el("pre", {}, `curl -s ${location.origin}${path} -H 'Content-Type: application/json' -d '${example}'`));
  return made;
}

get("/openapi.json").then((root) => {
  const routes = Object.entries(root.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, about]) => route(root, path, method, about)));
  const intro = card(`${root.info.title} ${root.info.version}`, el("p", {}, root.info.description),
    el("p", {}, "The same in ", el("a", { href: "/openapi.json" }, "OpenAPI"), "."));
  document.getElementById("view").replaceChildren(intro, ...routes);
}).catch((error) => document.getElementById("view").replaceChildren(notice(error.message)));
