"""Tries the schedule viewer in headless Chromium.

Leaves screenshots in FOLDER for people to look at: the schedule as it opens,
with a command selected, with a brush, and 10,000 commands.

usage: viewer.py VIEWER SCHEDULE CHROMIUM FOLDER
"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

viewer, schedule, chromium, folder = sys.argv[1:]
with open(viewer, encoding="utf-8") as file:
    page = file.read()
# Self-contained: nothing is fetched, and the page forbids it.
assert not re.search(r"""(src|href)\s*=|url\(|@import|https?://|fetch\(|import\(""", page)
assert "default-src 'none'" in page


def carry(text):
    """An element that carries JSON inside HTML."""
    return ('<script type="application/json" id="schedule">' +
            text.replace("<", "\\u003c") + "</script>")


def browse(name, text, script, *options):
    """Opens the page with a schedule and a script behind it."""
    path = os.path.join(folder, name + ".html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page.replace("<script>", carry(text) + "<script>", 1).replace(
            "</body>", f"<script>{script}</script></body>"))
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-extensions", "--no-first-run", "--hide-scrollbars",
             "--window-size=1400,800", f"--user-data-dir={profile}", *options,
             "file://" + os.path.abspath(path)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)


def read_png(path):
    """Width, height and rows of (red, green, blue) of a picture of 8 bits."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", chunk[:10])
            assert depth == 8 and colours in (2, 6), (depth, colours)
        elif kind == b"IDAT":
            packed += chunk
        at += 12 + length
    size = 3 if colours == 2 else 4
    raw, rows, last = zlib.decompress(packed), [], bytes(width * size)
    for y in range(height):
        start = y * (width * size + 1)
        kind, row = raw[start], bytearray(raw[start + 1:start + 1 + width * size])
        for x in range(len(row)):
            left = row[x - size] if x >= size else 0
            corner = last[x - size] if x >= size else 0
            up = last[x]
            if kind == 4:
                guess = min((left, up, corner),
                            key=lambda value: abs(left + up - corner - value))
            else:
                guess = (0, left, up, (left + up) // 2)[kind]
            row[x] = (row[x] + guess) & 255
        last = bytes(row)
        rows.append([tuple(row[x:x + 3]) for x in range(0, len(row), size)])
    return width, height, rows


def shoot(name, text, script, colours):
    """A screenshot, in which there are pixels of some colours. Unpacking it
    takes seconds: not done if none are asked for."""
    picture = os.path.join(folder, name + ".png")
    done = browse(name, text, script, "--screenshot=" + os.path.abspath(picture))
    assert os.path.exists(picture), done.stderr[-2000:]
    assert os.path.getsize(picture) > 10000
    if not colours:
        return
    width, height, rows = read_png(picture)
    assert (width, height) == (1400, 800), (width, height)
    seen = {}
    for row in rows:
        for pixel in row:
            seen[pixel] = seen.get(pixel, 0) + 1
    for colour in colours:
        pixel = tuple(int(colour[i:i + 2], 16) for i in (1, 3, 5))
        assert seen.get(pixel, 0) >= 20, (name, colour)


def run(name, text, script):
    """Opens the page with a schedule, runs the script, returns what it gives."""
    done = browse(name, text, f"""
const output = document.createElement("pre");
output.id = "output";
try {{
  output.textContent = JSON.stringify((() => {{ {script} }})());
}} catch (error) {{
  output.textContent = JSON.stringify({{ failed: String(error.stack) }});
}}
document.body.append(output);
""", "--dump-dom")
    found = re.search(r'<pre id="output">(.*?)</pre>', done.stdout, re.S)
    assert found, done.stdout[-2000:] + done.stderr[-2000:]
    result = json.loads(found.group(1).replace("&lt;", "<").replace("&gt;", ">")
                        .replace("&amp;", "&"))
    assert not (isinstance(result, dict) and "failed" in result), result["failed"]
    return result


# What a mouse does, at the middle of the box of an item.
HELPERS = """
const box = canvas.getBoundingClientRect();
const point = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type,
  { clientX: box.left + x, clientY: box.top + y, button: 0, bubbles: true }));
const where = (panelName, index) => {
  const panel = viewer.panels.find((panel) => panel.name === panelName);
  const item = panel.items.find((item) => item.index === index);
  const [x, y, width, height] = viewer.getBox(panel, item);
  return [x + width / 2, y + height / 2];
};
const click = (x, y) => { point("pointerdown", x, y); point("pointerup", x, y); };
const drag = (x0, y0, x1, y1) => { point("pointerdown", x0, y0); point("pointermove", x1, y1);
  viewer.draw(); point("pointerup", x1, y1); };
const names = (set) => [...set].filter((item) => item.kind === "command").map((item) => item.index).sort();
viewer.draw();
"""

with open(schedule, encoding="utf-8") as file:
    text = file.read()
model = json.loads(text)
instructions = {i["index"]: i for i in model["instructions"]}
main = next(i for i in model["instructions"] if i["tpe"] == "Main")
# What numbers of the host say about loops.
operand = model["operands"][0]
counts = [([(operand["index"], 1)], 0, None, None),
          ([(operand["index"], 3), ("99", -2)], -4, None, None),
          ([(operand["index"], -1), ("99", 1)], 5, "ge", -1)]
assert run("counted", text, "return " + json.dumps([
    {"trips": 5, "count": {
        "operands": [{"operand": index, "scale": scale} for index, scale in terms],
        "plus": plus, "when": when, "bound": bound}}
    for terms, plus, when, bound in counts]) +
    ".map((loop) => viewer.describeCount(loop));") == [
        f'A loop makes as many trips as "{operand["name"]}" says, 5 at most.',
        f'A loop makes as many trips as 3 × "{operand["name"]}" − 2 × operand 99 '
        '− 4 says, 5 at most.',
        f'A branch is taken if −"{operand["name"]}" + operand 99 + 5 ≥ -1.']
# Each tensor is written once in this kernel.
assert not model["loops"]
writers = {tensor: i["index"] for i in model["instructions"]
           for tensor in i["output_tensors"]}
readers = {}
for i in model["instructions"]:
    for tensor in i["input_tensors"]:
        readers.setdefault(tensor, []).append(i["index"])

result = run("small", text, HELPERS + f"""
const out = {{ panels: viewer.panels.map((panel) => panel.name), figures: byId("figures").textContent,
  title: byId("title").textContent }};
const [x, y] = where("MainContext", "{main['index']}");
point("pointermove", x, y);
out.tip = byId("tip").textContent;
click(x, y);
out.selected = viewer.selected.index;
out.producers = names(viewer.producers);
out.consumers = names(viewer.consumers);
out.details = byId("details").textContent;
viewer.draw();
// The frames of a producer are green, of a consumer orange.
const colourAt = (panelName, index) => {{
  const panel = viewer.panels.find((panel) => panel.name === panelName);
  const [left, top] = viewer.getBox(panel, panel.items.find((item) => item.index === index));
  return [...pen.getImageData(Math.round(left) + 1, Math.round(top) + 6, 1, 1).data];
}};
out.green = colourAt("DmaEngine", out.producers[0]);
out.orange = colourAt("DmaEngine", out.consumers[0]);
const all = {{ ...viewer.view }};
drag(300, 40, 700, 44);
out.zoomed = [viewer.view.begin, viewer.view.end];
byId("reset").click();
out.isReset = viewer.view.begin === all.begin && viewer.view.end === all.end;
const memory = viewer.panels.find((panel) => panel.name === "Sram");
drag(300, memory.y + memory.height * 0.25, 700, memory.y + memory.height * 0.75);
out.addresses = viewer.getAddresses(memory).map((address) => address / memory.top);
viewer.reset();
canvas.dispatchEvent(new WheelEvent("wheel", {{ deltaY: -500, clientX: box.left + 500, bubbles: true, cancelable: true }}));
out.wheel = viewer.view.end - viewer.view.begin;
window.dispatchEvent(new KeyboardEvent("keydown", {{ key: "Escape" }}));
out.afterEscape = [viewer.selected, viewer.view.end];
viewer.draw();
const [tx, ty] = where("Sram", "{main['input_tensors'][0]}");
click(tx, ty);
out.tensor = [viewer.selected.kind, viewer.selected.index, names(viewer.producers), names(viewer.consumers)];
out.found = viewer.find("{main['index']}").index;
out.refused = [viewer.open("{{}}", "a.json"), byId("details").textContent,
  viewer.open("nonsense", "b.json"), viewer.open('{{"instructions": [{{}}]}}', "c.json")];
// The files of the reference toolchain have none of our fields.
const theirs = JSON.parse(byId("schedule").textContent);
for (const name of ["kernel", "makespan", "lower_bound", "waits", "loops", "operands"]) delete theirs[name];
for (const instruction of theirs.instructions) {{ delete instruction.after; delete instruction.cost; }}
out.theirs = [viewer.open(theirs, "theirs.json"), byId("figures").textContent, viewer.panels.map((panel) => panel.name)];
return out;
""")
assert result["title"] == model["kernel"]
for figure in model["makespan"], model["lower_bound"]:
    assert f"{figure:,}" in result["figures"], result["figures"]
contexts = {c for i in model["instructions"] for c in i["contexts"]}
memories = {t["buffer_type"] for t in model["tensors"]}
assert set(result["panels"]) == contexts | memories | {"Queue"}, result["panels"]
assert result["tip"].startswith(f"Main {main['index']}\n"), result["tip"]
assert main["cost"]["formula"] in result["tip"]
assert main["cost"]["formula"] in result["details"]
assert result["selected"] == main["index"]
assert result["producers"] == sorted({writers[t] for t in main["input_tensors"]})
assert result["consumers"] == sorted({r for t in main["output_tensors"]
                                      for r in readers[t]})
for name, colour in ("green", (0x1A, 0x7F, 0x37)), ("orange", (0xBF, 0x56, 0x00)):
    # Edges are smoothed.
    assert all(abs(a - b) < 8 for a, b in zip(result[name], colour)), result[name]
# 1,400 pixels less details (22 rem), names (110) and a margin (8).
width, end = 1400 - 352 - 118, model["makespan"]
for x, cycle in zip((300, 700), result["zoomed"]):
    assert abs(cycle - (x - 110) / width * end) < end / 100, result["zoomed"]
assert result["isReset"]
low, high = result["addresses"]
assert abs(low - 0.25) < 0.02 and abs(high - 0.75) < 0.02, (low, high)
assert abs(result["wheel"] - end / 2.71828) < end / 50, result["wheel"]
assert result["afterEscape"] == [None, end]
tensor = main["input_tensors"][0]
assert result["tensor"] == ["tensor", str(tensor), [writers[tensor]],
                            sorted(readers[tensor])], result["tensor"]
assert result["found"] == main["index"]
assert result["refused"][0] is False and "a.json" in result["refused"][1]
assert result["refused"][2:] == [False, False]
assert result["theirs"][0] and f"{end:,}" in result["theirs"][1]
assert set(result["theirs"][2]) == contexts | memories

# What people see.
shoot("opened", text, "", [])
shoot("selected", text, f"""
viewer.select(viewer.find("{main['index']}")); viewer.draw();
""", ["#e08e2b", "#3f78d8", "#7fa6c9", "#d1242f", "#1a7f37", "#bf5600"])
shoot("brushed", text, HELPERS + """
point("pointerdown", 300, 40); point("pointermove", 700, 44); viewer.draw();
""", [])

# Comfortable with 10,000 commands: a frame, a pointer moved and a selection in
# a fraction of a second, on a machine without graphics and with other work.
large = {"title": "Schedule", "total_memory": 1, "page_size": 1, "instructions": [],
         "tensors": []}
for i in range(10000):
    lane = ("DmaLoad", "DmaEngine"), ("Main", "MainContext"), ("Sub", "SubContext")
    tpe, context = lane[i % 3]
    large["instructions"].append({
        "index": str(i), "history": {}, "tpe": tpe, "contexts": [context],
        "lifetime": {"begin": 100 * i, "end": 100 * i + 250},
        "input_tensors": [i - 1] if i else [], "output_tensors": [i],
        "description": "", "util": {}, "scheduler_node_index": None})
    large["tensors"].append({
        "name": f"t{i}", "index": str(i), "buffer_type": "Sram", "address": i % 64 * 512,
        "size": 512, "shape": "",
        "lifetime": {"begin": 100 * i, "end": 100 * i + 600}})
result = run("large", json.dumps(large), HELPERS + """
const best = (work) => Math.min(...Array.from({ length: 5 }, () => {
  const begin = performance.now();
  work();
  pen.getImageData(0, 0, 1, 1);
  return performance.now() - begin;
}));
const out = { draw: best(() => viewer.draw()) };
viewer.zoom(400000, 500000);
out.zoomed = best(() => viewer.draw());
viewer.reset();
viewer.draw();
out.move = best(() => point("pointermove", 500 + Math.random() * 100, 300));
const lane = viewer.panels.find((panel) => panel.name === "DmaEngine");
out.select = best(() => { viewer.select(lane.items[1000]); viewer.draw(); });
out.chain = [names(viewer.producers), names(viewer.consumers)];
out.open = best(() => viewer.open(byId("schedule").textContent));
return out;
""")
assert result["chain"] == [["2999"], ["3001"]], result["chain"]
print({name: round(value) for name, value in result.items() if name != "chain"})
assert max(result["draw"], result["zoomed"], result["move"]) < 200, result
assert result["select"] < 400 and result["open"] < 2000, result
shoot("ten-thousand", json.dumps(large), "", [])
shoot("ten-thousand-zoomed", json.dumps(large), """
viewer.zoom(400000, 415000); viewer.select(viewer.find("4050")); viewer.draw();
""", [])
