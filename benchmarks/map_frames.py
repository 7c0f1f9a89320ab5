"""How smoothly the page of a map moves: time per frame while it is dragged and zoomed.

python benchmarks/map_frames.py [POINTS] [WIDTH,HEIGHT]

Chromium is Debian's (`apt-get install chromium`), without a window. The page is dragged by pointer
events for some seconds, then zoomed by the wheel; it reports the time its script takes for a frame,
and the time between frames. On a machine that does other work, both are longer than the work: the
last line is the processor time of all of Chromium, divided by the frames.
"""

from __future__ import annotations

import base64
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from grale.data.molecules.library import library_graphs
from grale.graphs.molecules.molecule import molecule_space
from grale.plot.colouring import Colouring
from grale.plot.look import look_of
from grale.plot.map_page import write_map_page
from grale.plot.packed_drawings import CHUNK

SECONDS = 6.0
HANDS = """
<script>
(async () => {
  await new Promise((done) => setTimeout(done, 1000));
  const box = over.getBoundingClientRect();
  let x = box.width / 2, y = box.height / 2;
  const send = (kind, more) => {
    const place = { clientX: box.left + x, clientY: box.top + y, bubbles: true, ...more };
    over.dispatchEvent(new (kind === "wheel" ? WheelEvent : PointerEvent)(kind, place));
  };
  const ways = {
    drag: (angle) => {
      x += 6 * Math.cos(angle);
      y += 6 * Math.sin(angle);
      send("pointermove", { pointerId: 1 });
    },
    zoom: (angle) => send("wheel", { deltaY: 25 * Math.cos(angle / 2) }),
  };
  for (const way of ["drag", "zoom"]) {
    const between = [], inside = [];
    if (way === "drag") send("pointerdown", { pointerId: 1 });
    await fetch("/begin", { method: "POST", body: "{}" });
    const began = performance.now();
    let last = began;
    while (performance.now() - began < SECONDS * 1000) {
      ways[way]((performance.now() - began) / 400);
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      between.push(now - last); last = now; inside.push(window.frameTime);
    }
    if (way === "drag") send("pointerup", { pointerId: 1 });
    await fetch("/" + way, { method: "POST", body: JSON.stringify({ between, inside }) });
  }
})();
</script>
"""


def page_of(count: int) -> str:
    """A page with clusters of points; molecules repeat, so that it is made in seconds."""
    rng = np.random.default_rng(0)
    graphs = library_graphs(CHUNK, 16)
    corners = np.array([[0.0, 0.0], [1.0, 1.0]])[np.arange(CHUNK) % 2]
    look = look_of(molecule_space(16))
    with tempfile.TemporaryDirectory() as folder:
        path = write_map_page(
            Path(folder) / "map.html",
            f"{count:,} points",
            corners,
            [Colouring("x", corners[:, 0])],
            graphs,
            look=look,
        )
        before, text, after = re.split(r"const data = (.*);\n", path.read_text(), maxsplit=1)
    points = rng.normal(size=(12, 2))[rng.integers(0, 12, count)] * 2
    points = points + rng.normal(size=(count, 2)) * 0.4
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0).max()
    data = json.loads(text)
    data["count"] = count
    data["points"] = _text((points * 65_535).astype("<u2"))
    data["colourings"][0]["values"] = _text(points[:, 0].astype("<f4"))
    data["ids"] = [f"number {k}" for k in range(count)]
    data["names"] = ["CCO"] * count
    data["drawings"] *= -(-count // CHUNK)
    return f"{before}const data = {json.dumps(data)};\n{after}"


def _text(values: np.ndarray) -> str:
    return base64.b64encode(values.tobytes()).decode()


def processor_seconds(parent: int) -> float:
    """Processor time of all processes below one, so far."""
    ticks, found = 0, {parent}
    for status in sorted(Path("/proc").glob("[0-9]*/stat"), key=lambda p: int(p.parent.name)):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(fields[1]) in found:
            found.add(int(status.parent.name))
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def main(count: int, window: str) -> None:
    """Serve the page on loopback, drag it, print the times."""
    page = page_of(count)
    script = HANDS.replace("SECONDS", str(SECONDS))
    content = page.replace("</body>", script + "</body>").encode()
    answers: dict[str, dict[str, list[float]]] = {}
    spent: list[float] = []  # at the beginning and the end of each way to move
    done = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            spent.append(processor_seconds(os.getpid()))
            self.send_response(204)
            self.end_headers()
            if self.path != "/begin":
                answers[self.path[1:]] = said
            if self.path == "/zoom":
                done.set()

        def log_message(self, *_: object) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--window-size={window}"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [
                "chromium",
                *flags,
                f"--user-data-dir={profile}",
                "--remote-debugging-port=0",
                address,
            ],
            stderr=subprocess.DEVNULL,
        )
        is_done = done.wait(400)
        browser.terminate()
        browser.wait()
        time.sleep(0.2)
    if not is_done:
        raise SystemExit("the page did not answer within 400 seconds")
    print(f"{count:,} points, window {window}, page of {len(page) / 1e6:.1f} MB")
    for way, began, ended in zip(answers, spent[::2], spent[1::2]):
        report(way, answers[way], ended - began)


def report(way: str, times: dict[str, list[float]], seconds: float) -> None:
    """Print the times of one way to move."""
    print(way)
    for name, values in times.items():
        some = np.array(values[2:])
        middle, most = np.percentile(some, [50, 95])
        what = {"between": "between frames", "inside": "in the page's script"}[name]
        print(f"  {what}: median {middle:.1f} ms, 95 % below {most:.1f} ms, {len(some)} frames")
    work = 1000 * seconds / len(times["inside"])
    print(f"  processor time of the browser: {work:.1f} ms per frame")


if __name__ == "__main__":
    arguments = sys.argv[1:] + ["100000", "1280,800"][len(sys.argv) - 1 :]
    main(int(arguments[0]), arguments[1])
