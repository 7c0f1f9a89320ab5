// The map: dots are written into an image pixel by pixel, and the image moves as a whole, so that
// 100,000 move smoothly without a graphics card. Users' text only ever becomes textContent.
const find = (id) => document.getElementById(id);
const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const count = data.count;
const places = new Uint16Array(bytesOf(data.points).buffer);
const xs = new Float32Array(count), ys = new Float32Array(count);
for (let i = 0; i < count; i++) { xs[i] = places[2 * i] / 65535; ys[i] = 1 - places[2 * i + 1] / 65535; }
const colourings = data.colourings.map((one) => Object.assign({}, one,
  one.kinds ? { codes: bytesOf(one.values) } : { numbers: new Float32Array(bytesOf(one.values).buffer) }));
const dots = find("dots"), over = find("over");
const paper = dots.getContext("2d", { alpha: false }), sketch = over.getContext("2d");
const isDark = matchMedia("(prefers-color-scheme: dark)");

// Colours: one 32 bit number per dot, as an image holds them.
const packed = (hex) => {
  const value = parseInt(hex.slice(1), 16);
  return (0xff000000 | ((value & 255) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
};
const ramp = Uint32Array.from(data.ramp, packed);
const inks = new Uint32Array(count);
let chosen = 0;
function paint() {
  const one = colourings[chosen];
  if (one.kinds) {
    const colours = one.kinds.map((kind) => packed(kind[1]));
    for (let i = 0; i < count; i++) inks[i] = colours[one.codes[i]];
  } else {
    const width = one.high - one.low || 1, unknown = packed(data.unknown);
    for (let i = 0; i < count; i++) {
      const share = (one.numbers[i] - one.low) / width;
      inks[i] = share === share ? ramp[Math.max(0, Math.min(255, Math.round(255 * share)))] : unknown;
    }
  }
  legend(one);
  ask();
}
function legend(one) {
  find("scale").textContent = one.name;
  find("ramp").style.display = find("ticks").style.display = one.kinds ? "none" : "";
  find("kinds").replaceChildren();
  find("ticks").replaceChildren();
  if (one.kinds) {
    for (const [name, colour] of one.kinds) {
      const line = document.createElement("span"), swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = colour;
      line.append(swatch, name);
      find("kinds").append(line);
    }
    return;
  }
  const brush = find("ramp").getContext("2d");
  data.ramp.forEach((colour, k) => { brush.fillStyle = colour; brush.fillRect(k, 0, 1, 1); });
  for (const tick of one.ticks) {
    const label = document.createElement("span");
    label.textContent = tick;
    find("ticks").append(label);
  }
}

// The view: a dot at (x, y) in the unit square is at (x * scale + left, y * scale + top) pixels.
let width = 0, height = 0, ratio = 1, image = null, pixels = null;
let scale = 1, left = 0, upper = 0, home = 1;
function fit() {
  const box = find("map").getBoundingClientRect();
  ratio = Math.min(2, window.devicePixelRatio || 1);
  const before = [width, height], isWhole = scale === home;
  width = Math.max(1, Math.round(box.width * ratio));
  height = Math.max(1, Math.round(box.height * ratio));
  if (before[0] === width && before[1] === height) return;
  over.width = width;
  over.height = height;
  frameDots();
  if (isWhole) showAll();
  else {
    left += (width - before[0]) / 2;  // what was in the middle stays there
    upper += (height - before[1]) / 2;
  }
  isStale = true;
  draw();  // at once: a canvas whose size changed is empty
}
function showAll() {
  const spanX = data.span[0], spanY = data.span[1], room = 28 * ratio, legendRoom = 70 * ratio;
  home = scale = Math.min((width - 2 * room) / spanX, (height - 2 * room - legendRoom) / spanY);
  left = (width - spanX * scale) / 2;
  upper = (height - legendRoom - spanY * scale) / 2 - (1 - spanY) * scale;
  ask();
}
function zoom(factor, x, y) {
  const next = Math.max(home / 2, Math.min(home * 4000, scale * factor));
  left = x - (x - left) * next / scale;
  upper = y - (y - upper) * next / scale;
  scale = next;
  move();
}

// Drawing. The picture of the dots is larger than the map, by a margin on each side. While many
// dots move, it slides and stretches as a whole, which costs next to nothing; it is drawn anew
// when it no longer covers the map, and when the dots rest. Drawn on the way, they have hard rims.
const MANY = 20000, REST = 160, MARGIN = 0.2, STRETCH = 1.25;
let marginX = 0, marginY = 0, stride = 0, drawn = { scale: 1, left: 0, upper: 0 };
let asked = false, isStale = true, isRough = false, resting = 0;
function frameDots() {
  marginX = count > MANY ? Math.round(MARGIN * width) : 0;
  marginY = count > MANY ? Math.round(MARGIN * height) : 0;
  stride = dots.width = width + 2 * marginX;
  dots.height = height + 2 * marginY;
  Object.assign(dots.style, { left: -marginX / ratio + "px", top: -marginY / ratio + "px",
    width: dots.width / ratio + "px", height: dots.height / ratio + "px",
    transformOrigin: marginX / ratio + "px " + marginY / ratio + "px" });
  image = paper.createImageData(dots.width, dots.height);
  pixels = new Uint32Array(image.data.buffer);
}
function ask(changes = true) {
  isStale = isStale || changes;
  if (!asked) { asked = true; requestAnimationFrame(draw); }
}
function move() {
  isRough = count > MANY;
  clearTimeout(resting);
  if (isRough) resting = setTimeout(() => { isRough = false; ask(); }, REST);
  ask(!isRough);
}
// Where the picture goes: p * grow + (right, down) for what was drawn at p.
function slide() {
  const grow = scale / drawn.scale;
  return [grow, left - drawn.left * grow, upper - drawn.upper * grow];
}
function covers() {
  const [grow, right, down] = slide();
  return grow < STRETCH && grow > 1 / STRETCH
    && right <= marginX * grow && (width + marginX) * grow + right >= width
    && down <= marginY * grow && (height + marginY) * grow + down >= height;
}
function radius() {
  const base = count > 30000 ? 1.6 : count > 5000 ? 2.3 : count > 800 ? 3.4 : 5;
  return ratio * Math.min(7, base * Math.pow(Math.max(1, scale / home), 0.35));
}
function stamp(size) {
  const reach = Math.ceil(size + 0.5), inner = [], rim = [], cover = [];
  for (let dy = -reach; dy <= reach; dy++)
    for (let dx = -reach; dx <= reach; dx++) {
      const share = Math.max(0, Math.min(1, size + 0.5 - Math.hypot(dx, dy)));
      if (share > (isRough ? 0.5 : 0.95)) inner.push(dy * stride + dx);
      else if (share > 0.05 && !isRough) { rim.push(dy * stride + dx); cover.push(Math.round(256 * share)); }
    }
  return { reach, inner: Int32Array.from(inner), rim: Int32Array.from(rim), cover: Int32Array.from(cover) };
}
function dab(at, ink, mark) {
  const { inner, rim, cover } = mark;
  for (let k = 0; k < inner.length; k++) pixels[at + inner[k]] = ink;
  for (let k = 0; k < rim.length; k++) {
    const a = cover[k], b = 256 - a, old = pixels[at + rim[k]];
    const redBlue = (((old & 0xff00ff) * b + (ink & 0xff00ff) * a) >>> 8) & 0xff00ff;
    const green = (((old & 0xff00) * b + (ink & 0xff00) * a) >>> 8) & 0xff00;
    pixels[at + rim[k]] = (0xff000000 | redBlue | green) >>> 0;
  }
}
function drawDots() {
  pixels.fill(packed(isDark.matches ? "#171c22" : "#ffffff"));
  const mark = stamp(radius()), reach = mark.reach, some = wanted();
  const quiet = packed(isDark.matches ? "#2f363f" : "#dfe3e8");
  const high = image.height, right = left + marginX + 0.5, down = upper + marginY + 0.5;
  for (let pass = some ? 0 : 1; pass < 2; pass++)
    for (let i = 0; i < count; i++) {
      if (some && some[i] !== pass) continue;
      const x = (xs[i] * scale + right) | 0, y = (ys[i] * scale + down) | 0;
      if (x < reach || y < reach || x >= stride - reach || y >= high - reach) continue;
      dab(y * stride + x, pass ? inks[i] : quiet, mark);
    }
  paper.putImageData(image, 0, 0);
  drawn = { scale, left, upper };
  isStale = false;
}
function draw() {
  asked = false;
  const began = performance.now();
  if (isStale || !covers()) drawDots();
  const [grow, right, down] = slide();
  dots.style.transform = "translate(" + right / ratio + "px, " + down / ratio + "px) scale(" + grow + ")";
  drawOver();
  window.frameTime = performance.now() - began;
}
let hasLoop = false;
function drawOver() {
  if (shown >= 0) {
    const x = (xs[shown] * scale + left) / ratio, y = (ys[shown] * scale + upper) / ratio;
    find("ring").style.transform = "translate(" + x + "px, " + y + "px)";
  }
  if (hasLoop) sketch.clearRect(0, 0, width, height);
  hasLoop = loop.length > 1;
  if (hasLoop) {
    sketch.beginPath();
    loop.forEach(([x, y]) => sketch.lineTo(x, y));
    sketch.closePath();
    sketch.fillStyle = "rgba(11, 98, 184, 0.12)";
    sketch.strokeStyle = "#0b62b8";
    sketch.lineWidth = 1.5 * ratio;
    sketch.fill();
    sketch.stroke();
  }
}

// What is under the pointer: dots by cells of a grid.
const CELLS = 200, starts = new Uint32Array(CELLS * CELLS + 1), members = new Uint32Array(count);
const cellOf = (i) => Math.min(CELLS - 1, Math.floor(ys[i] * CELLS)) * CELLS + Math.min(CELLS - 1, Math.floor(xs[i] * CELLS));
for (let i = 0; i < count; i++) starts[cellOf(i) + 1]++;
for (let c = 0; c < CELLS * CELLS; c++) starts[c + 1] += starts[c];
const next = starts.slice();
for (let i = 0; i < count; i++) members[next[cellOf(i)]++] = i;
function under(px, py) {
  const reach = (radius() + 5 * ratio) / scale, x = (px - left) / scale, y = (py - upper) / scale;
  const clip = (value) => Math.max(0, Math.min(CELLS - 1, Math.floor(value * CELLS)));
  let best = -1, least = reach * reach;
  for (let row = clip(y - reach); row <= clip(y + reach); row++)
    for (let k = starts[row * CELLS + clip(x - reach)]; k < starts[row * CELLS + clip(x + reach) + 1]; k++) {
      const i = members[k], far = (xs[i] - x) ** 2 + (ys[i] - y) ** 2;
      if (far <= least) { least = far; best = i; }
    }
  return best;
}

// The card.
let shown = -1;
const said = (one, i) => one.kinds ? (i in one.rare ? one.rare[i] : one.kinds[one.codes[i]][0])
  : one.numbers[i] === one.numbers[i] ? String(Number(one.numbers[i].toPrecision(4))) : "unknown";
function show(i) {
  if (i < 0 || i === shown) return;
  shown = i;
  find("ident").textContent = data.ids[i];
  find("name").textContent = data.names[i];
  find("values").replaceChildren(...colourings.map((one) => {
    const row = document.createElement("tr");
    for (const text of [one.name, said(one, i)]) row.insertCell().textContent = text;
    return row;
  }));
  sketchGraph(i);
  drawOver();
}
const SVG = "http://www.w3.org/2000/svg", opened = new Map();
async function openChunk(number) {
  if (!opened.has(number)) {
    const stream = new Blob([bytesOf(data.drawings[number])]).stream();
    const whole = new Response(stream.pipeThrough(new DecompressionStream("deflate")));
    opened.set(number, whole.arrayBuffer().then((buffer) => new DataView(buffer)));
  }
  return opened.get(number);
}
async function sketchGraph(i) {
  const view = await openChunk(Math.floor(i / data.chunk));
  if (i !== shown) return;
  const place = i % data.chunk;
  const svg = find("drawing");
  svg.replaceChildren();
  let at = view.getUint32(4 * place, true);
  const end = view.getUint32(4 * place + 4, true);
  const read = () => view.getUint8(at++);
  const long = () => { at += 2; return view.getInt16(at - 2, true) / 100; };
  const box = [long(), long(), long(), long()];
  svg.setAttribute("viewBox", box.join(" "));
  while (at < end) {
    const kind = read(), colour = data.colours[read()];
    if (kind < 2) {
      add(svg, "line", { x1: long(), y1: long(), x2: long(), y2: long(), stroke: colour,
        "stroke-width": 0.08, "stroke-linecap": "round", "stroke-dasharray": kind ? "0.14 0.16" : "none" });
    } else if (kind === 2) {
      add(svg, "circle", { cx: long(), cy: long(), r: long(), fill: colour, stroke: "#30363d",
        "stroke-width": 0.03 });
    } else {
      const values = { x: long(), y: long(), "font-size": long(), fill: colour,
        "font-family": "Helvetica, Arial, 'Liberation Sans', sans-serif" };
      if (kind === 4) Object.assign(values, { "text-anchor": "middle", "dominant-baseline": "central" });
      const letters = new Uint8Array(view.buffer, at + 1, read());
      at += letters.length;
      add(svg, "text", values, new TextDecoder().decode(letters));
    }
  }
}
function add(parent, tag, values, text) {
  const made = document.createElementNS(SVG, tag);
  for (const key in values) made.setAttribute(key, values[key]);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
}
