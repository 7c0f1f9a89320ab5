// Search and selection: dots that are not wanted turn grey.
let hits = null, selected = null, loop = [], hit = -1;
const wanted = () => selected || hits;
const total = (flags) => flags.reduce((sum, flag) => sum + flag, 0);
function search() {
  const text = find("search").value.trim().toLowerCase();
  hit = -1;
  hits = null;
  if (text) {
    hits = new Uint8Array(count);
    for (let i = 0; i < count; i++)
      if (data.ids[i].toLowerCase().includes(text) || data.names[i].toLowerCase().includes(text)) hits[i] = 1;
    if (total(hits)) nextHit(false);
  }
  tell();
  ask();
}
function nextHit(moves) {
  for (let k = 1; k <= count; k++) {
    const i = (hit + k) % count;
    if (!hits[i]) continue;
    hit = i;
    show(i);
    if (moves) {
      scale = Math.max(scale, home * 6);
      left = width / 2 - xs[i] * scale;
      upper = height / 2 - ys[i] * scale;
    }
    ask();
    return;
  }
}
function tell() {
  const parts = [];
  if (hits) parts.push(total(hits).toLocaleString("en") + " found");
  if (selected) parts.push(total(selected).toLocaleString("en") + " selected");
  find("found").textContent = parts.join(", ");
  find("save").disabled = !wanted() || !total(wanted());
  find("clear").disabled = !wanted();
}
function encloses(x, y) {
  let inside = false;
  for (let a = 0, b = loop.length - 1; a < loop.length; b = a++) {
    const [ax, ay] = loop[a], [bx, by] = loop[b];
    if (ay > y !== by > y && x < (bx - ax) * (y - ay) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}
function selectLoop() {
  const xsOf = loop.map((p) => p[0]), ysOf = loop.map((p) => p[1]);
  const low = [Math.min(...xsOf), Math.min(...ysOf)], high = [Math.max(...xsOf), Math.max(...ysOf)];
  selected = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const x = xs[i] * scale + left, y = ys[i] * scale + upper;
    if (x >= low[0] && x <= high[0] && y >= low[1] && y <= high[1] && encloses(x, y)) selected[i] = 1;
  }
  loop = [];
  tell();
  ask();
}
function csv() {
  const cell = (value) => /[",\r\n]/.test(value) ? '"' + value.replaceAll('"', '""') + '"' : value;
  const value = (one, i) => {  // as exact as the page has it, and nothing where it is not known
    if (one.kinds) return said(one, i);
    return Number.isNaN(one.numbers[i]) ? "" : String(Number(one.numbers[i].toPrecision(7)));
  };
  const model = Object.entries(data.made_with);  // a csv has no other place to say it
  const lines = [["id", "name", ...colourings.map((one) => one.name), ...model.map(([key]) => "made_with_" + key)]];
  const flags = wanted();
  for (let i = 0; i < count; i++)
    if (flags[i]) lines.push([data.ids[i], data.names[i], ...colourings.map((one) => value(one, i)),
      ...model.map(([, said]) => said === null ? "" : said)]);
  return lines.map((line) => line.map(cell).join(",")).join("\n") + "\n";
}
function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
  link.download = "selection.csv";
  link.click();
  URL.revokeObjectURL(link.href);
}
function clear() {
  selected = hits = null;
  find("search").value = "";
  tell();
  ask();
}

// Hands: one pointer moves or selects, two zoom, the wheel zooms, arrow keys go to the next dot.
const hands = new Map();
let isSelecting = false;
const spot = (event) => {
  const box = over.getBoundingClientRect();
  return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
};
over.addEventListener("pointerdown", (event) => {
  if (event.isTrusted) over.setPointerCapture(event.pointerId);
  hands.set(event.pointerId, spot(event));
  isSelecting = hands.size === 1 && (event.shiftKey || find("lasso").ariaPressed === "true");
  loop = isSelecting ? [spot(event)] : [];
  show(under(...spot(event)));
});
over.addEventListener("pointermove", (event) => {
  const now = spot(event), before = hands.get(event.pointerId);
  if (!before) { show(under(...now)); return; }
  if (isSelecting) { loop.push(now); drawOver(); return; }
  const others = [...hands].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
  if (others.length) {
    const gap = (place) => Math.hypot(place[0] - others[0][0], place[1] - others[0][1]) || 1;
    zoom(gap(now) / gap(before), ...others[0]);
  } else {
    left += now[0] - before[0];
    upper += now[1] - before[1];
    move();
  }
  hands.set(event.pointerId, now);
});
for (const kind of ["pointerup", "pointercancel"])
  over.addEventListener(kind, (event) => {
    hands.delete(event.pointerId);
    if (isSelecting && loop.length > 2) selectLoop();
    loop = [];
    isSelecting = false;
    drawOver();
  });
over.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...spot(event));
}, { passive: false });
over.addEventListener("dblclick", (event) => zoom(2.5, ...spot(event)));
over.addEventListener("keydown", (event) => {
  const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
  if (way) step(way);
  else if (event.key === "+" || event.key === "=") zoom(1.4, width / 2, height / 2);
  else if (event.key === "-") zoom(1 / 1.4, width / 2, height / 2);
  else if (event.key === "0") showAll();
  else if (event.key === "Escape") clear();
  else return;
  event.preventDefault();
});
function step([x, y]) {
  let best = -1, least = Infinity;
  for (let i = 0; i < count; i++) {
    const dx = xs[i] - xs[shown], dy = ys[i] - ys[shown], ahead = dx * x + dy * y;
    if (ahead <= 0) continue;
    const far = ahead + 3 * Math.abs(dx * y + dy * x);
    if (far < least) { least = far; best = i; }
  }
  show(best);
}
colourings.forEach((one, k) => find("colour").append(new Option(one.name, k)));
find("colour").addEventListener("change", (event) => { chosen = Number(event.target.value); paint(); });
let waiting = 0;
find("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 120); });
find("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && hits && total(hits)) nextHit(true);
});
find("lasso").addEventListener("click", () => {
  const isOn = find("lasso").ariaPressed !== "true";
  find("lasso").ariaPressed = String(isOn);
  over.classList.toggle("selecting", isOn);
});
find("clear").addEventListener("click", clear);
find("save").addEventListener("click", save);
find("nearer").addEventListener("click", () => zoom(1.6, width / 2, height / 2));
find("farther").addEventListener("click", () => zoom(1 / 1.6, width / 2, height / 2));
find("whole").addEventListener("click", showAll);
isDark.addEventListener("change", ask);
new ResizeObserver(fit).observe(find("map"));
fit();
paint();
show(0);
