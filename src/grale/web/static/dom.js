// Elements made by hand: text is always text, never markup.

export function el(tag, settings = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && typeof made[name] !== "object") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function picture(svg, alt, kind = "") {
  // an image runs no scripts and loads nothing
  const source = svg ? "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg) : "";
  return el("img", { className: `picture ${kind}`, alt, src: source || undefined });
}

export const busy = (text) => el("p", { className: "busy", role: "status" }, text);
export const notice = (text) => el("p", { className: "notice", role: "alert" }, text);
export const badge = (text, good) => el("span", { className: `badge ${good ? "good" : "bad"}` }, text);

export function card(title, ...children) {
  const head = el("div", { className: "head" }, el("h2", {}, title));
  return Object.assign(el("section", { className: "card" }, head, ...children), { head });
}

export function field(text, control) {
  return el("label", { className: "field" }, text, control);
}

export function choice(options, chosen, changed) {
  const made = el("select", { onchange: () => changed && changed(made.value) });
  for (const [value, text] of options) made.append(el("option", { value, selected: value === chosen }, text));
  return made;
}

export const number = (value, digits = 3) =>
  value === null || value === undefined ? "–" : Number(value.toPrecision(digits)).toString();

// Run the newest request only: a later call makes an earlier one give up.
export function latest(run) {
  let control = null;
  return async (...given) => {
    if (control) control.abort();
    const mine = (control = new AbortController());
    try {
      await run(mine.signal, ...given);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  };
}

export function soon(run, wait = 350) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), wait);
  };
}
