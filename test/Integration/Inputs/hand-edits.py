"""Edits schedules as a person would, and has them verified.

Every kernel is scheduled; then its text is changed in one place at a time: a
wait dropped or moved, commands swapped, an address, an engine, cycles, trips or
a tag changed. What is wrong must be refused where it is wrong; what is right
(other names, another order of buffers, other tags, a wait too many, a free
address) must be accepted.

usage: hand-edits.py PROGRAM FOLDER KERNEL...
"""

import collections
import os
import re
import subprocess
import sys

program, folder, *kernels = sys.argv[1:]
SEPARATOR = "// -----\n"


def run(*arguments, text=None):
    return subprocess.run([program, *arguments], input=text, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300)


class Item:
    """An op of a schedule: its lines, without those inside a loop."""

    def __init__(self, kind, first, last, parent):
        self.kind, self.first, self.last, self.parent = kind, first, last, parent


def parse(lines):
    """Waits, issues and loops; a loop's lines are its first one and its end."""
    items, open_items = [], []
    for number, line in enumerate(lines):
        found = re.match(r"( *)resource\.(wait|issue|loop|program)\b", line)
        if found and found[2] == "wait":
            items.append(Item("wait", number, number, open_items[-1]))
        elif found:
            item = Item(found[2], number, None, open_items[-1] if open_items else None)
            item.indent = len(found[1])
            items.append(item)
            open_items.append(item)
        elif open_items and line == " " * open_items[-1].indent + "}":
            open_items.pop().last = number
    return items


class Edits:
    def __init__(self, lines):
        self.lines = lines
        # What was done, where, the text that came out, what must be said; None
        # for what must be accepted.
        self.list = []

    def add(self, what, line, changed, expected):
        assert changed != self.lines, (what, line)
        self.list.append((what, line, "\n".join(changed), expected))

    def replace(self, what, number, line, expected):
        self.add(what, number,
                 self.lines[:number] + [line] + self.lines[number + 1:], expected)


DEPENDENCE = "no wait stands between the command and one that it depends on"
BUSY = "a command is issued to what another one keeps busy"
LOOP = "a loop is entered with a command under way"
END = "nothing waits for the command before its block ends"
TAG = "two transfers under way have one tag"
CYCLES = r"the command runs from cycle \d+ to \d+, found"
MISSING = f"{DEPENDENCE}|{BUSY}|{LOOP}|{END}|{TAG}"


def edit_queue(edits, items):
    lines = edits.lines
    for index, item in enumerate(items):
        after = items[index + 1] if index + 1 < len(items) else None
        span = lines[item.first:item.last + 1]
        rest = lines[item.last + 1:]
        if item.kind == "wait":
            edits.add("wait dropped", item.first, lines[:item.first] + rest, MISSING)
            edits.add("wait twice", item.first,
                      lines[:item.first] + span + span + rest, None)
            if after and after.kind == "issue" and after.parent is item.parent:
                edits.add("wait behind the next command", item.first,
                          lines[:item.first] + lines[after.first:after.last + 1] +
                          span + lines[after.last + 1:], f"{MISSING}|{CYCLES}")
        if item.kind == "issue":
            edits.add("command twice", item.first,
                      lines[:item.first] + span + span + rest,
                      f"{MISSING}|{CYCLES}")
            head = lines[item.first]
            begin, end = map(int, re.search(r"cycles \[(\d+), (\d+)\]", head).groups())
            edits.replace("end of a command", item.first,
                          head.replace(f"[{begin}, {end}]", f"[{begin}, {end + 1}]"),
                          CYCLES)
            engine = re.search(r"issue (\w+)", head)[1]
            for other in {"main", "sub", "dma"} - {engine}:
                # What a context may have is not what a transfer must have.
                edits.replace(f"{engine} as {other}", item.first,
                              head.replace(f"issue {engine}", f"issue {other}"),
                              "RES-14|RES-15|RES-9")
            if engine == "dma":
                tag = int(re.search(r"tag (\d+)", head)[1])
                edits.replace("tag of a transfer", item.first,
                              head.replace(f"tag {tag} ", "tag 63 "),
                              f"{MISSING}|no transfer with tag {tag} has been issued")
                edits.replace("tag that is none", item.first,
                              head.replace(f"tag {tag} ", "tag 64 "), "RES-15")
        if item.kind == "loop":
            head = lines[item.first]
            trips = int(re.search(r"loop (\d+)", head)[1])
            cycles = int(re.search(r"cycles (\d+)", head)[1])
            if cycles:
                edits.replace("trips of a loop", item.first,
                              head.replace(f"loop {trips}", f"loop {trips + 1}"),
                              "the makespan is|the block takes|RES-17|RES-26|RES-28")
            edits.replace("cycles of a loop", item.first,
                          head.replace(f"cycles {cycles}", f"cycles {cycles + 8}"),
                          "the block takes")
            if " barrier" in head and cycles == 0:
                edits.replace("barrier dropped", item.first,
                              head.replace(" barrier", ""), "barrier")
    issues = [item for item in items if item.kind == "issue"]
    for one, other in zip(issues, issues[1:]):
        if one.parent is not other.parent:
            continue
        spans = [lines[i.first:i.last + 1] for i in (one, other)]
        heads = [re.sub(r"cycles \[.*?\]", "", span[0]) for span in spans]
        if heads[0] == heads[1] and spans[0][1:] == spans[1][1:]:
            continue
        changed = (lines[:one.first] + spans[1] + lines[one.last + 1:other.first] +
                   spans[0] + lines[other.last + 1:])
        # With no wait in between, what runs on two engines starts alike.
        engines = {re.search(r"issue (\w+)", head)[1] for head in heads}
        if one.last + 1 == other.first and len(engines) == 2:
            edits.add("commands swapped that start together", one.first, changed, None)
        else:
            edits.add("commands swapped", one.first, changed,
                      f"{MISSING}|{CYCLES}|no transfer with tag|"
                      "the buffer lives from cycle")


def edit_program(edits, items):
    lines = edits.lines
    for item in items:
        if item.kind != "program":
            continue
        head = lines[item.first]
        makespan, bound = map(int, re.search(
            r"makespan (\d+) lower_bound (\d+)", head).groups())
        edits.replace("makespan", item.first,
                      head.replace(f"makespan {makespan}", f"makespan {makespan + 1}"),
                      f"the makespan is {makespan}, found {makespan + 1}")
        edits.replace("lower bound", item.first,
                      head.replace(f"lower_bound {bound}", f"lower_bound {bound - 1}"),
                      f"the lower bound is {bound}, found {bound - 1}")
    # None of it changes what the schedule is.
    edits.add("other names", 0,
              [re.sub(r"%(\w+)", r"%name_\1", line) for line in lines], None)
    if any(" tag " in line for line in lines):
        edits.add("other tags", 0,
                  [re.sub(r" tag (\d+)", lambda m: f" tag {63 - int(m[1])}", line)
                   for line in lines], None)


def edit_buffers(edits, items):
    lines = edits.lines
    capacity = {"dm": 524288, "trf": 65536, "vrf": 8192}
    for item in items:
        if item.kind != "program":
            continue
        buffers = []
        for number in range(item.first, item.last):
            found = re.match(r" *(%\w+) = resource\.buffer at (\d+) live \[(\d+), (\d+)\]"
                             r".*!lir\.mem<(\w+), (\d+)(?:, lanes (\d+))?>", lines[number])
            if found:
                buffers.append((number, found[5], *map(int, found.group(2, 3, 4, 6)),
                                int(found[7] or 1)))
        if len(buffers) > 1:
            numbers = [buffer[0] for buffer in buffers]
            if numbers == list(range(numbers[0], numbers[-1] + 1)):
                edits.add("buffers in another order", numbers[0],
                          lines[:numbers[0]] + lines[numbers[0]:numbers[-1] + 1][::-1] +
                          lines[numbers[-1] + 1:], None)
        for number, memory, address, begin, end, size, lanes in buffers:
            line = lines[number]
            move = lambda to: line.replace(f"at {address} ", f"at {to} ")
            edits.replace("odd address", number, move(address + 4), "RES-12")
            edits.replace("address beyond its memory", number,
                          move(capacity[memory] // lanes), "RES-12")
            edits.replace("life of a buffer", number,
                          line.replace(f"live [{begin}, {end}]",
                                       f"live [{begin}, {end + 1}]"),
                          f"the buffer lives from cycle {begin} to {end}, found")
            for other in buffers:
                # One that lives in a cycle of its life, by more than its ends.
                if other[0] != number and other[1] == memory and lanes == other[6] \
                        and other[2] != address and other[3] < end and begin < other[4]:
                    edits.replace("address of another buffer", number, move(other[2]),
                                  "two buffers share addresses while both live|RES-12")
            used = max(b[2] + b[5] // b[6] for b in buffers if b[1] == memory)
            # Behind what a fetch may read beyond the end of its buffer.
            free = -(-(used + 4096) // 64) * 64
            if free + size // lanes + 4096 <= capacity[memory] // 8:
                edits.replace("free address", number, move(free), None)


def verify(name, edits):
    """Verifies all edits of a kernel at once; returns how many of each kind."""
    path = os.path.join(folder, name)
    starts, line = [], 1
    with open(path, "w", encoding="utf-8") as file:
        for _, _, text, _ in edits.list:
            starts.append(line)
            file.write(text + "\n" + SEPARATOR)
            line += text.count("\n") + 2
    done = run("--resource-verify-schedule", "--split-input-file", path)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    errors = [[] for _ in starts]
    for message in re.finditer(r"^(?:within split at )?(\S+?):(\d+)(?: offset )?:(\d+):"
                               r"(?:\d+:)? error: (.*)$", done.stderr, re.M):
        # Either the line in the file, or the start of the piece and an offset.
        at = int(message[2])
        piece = max(i for i, start in enumerate(starts) if start - 1 <= at)
        errors[piece].append(message[4])
    counts = collections.Counter()
    for (what, where, _, expected), found in zip(edits.list, errors):
        place = f"{name}: {what} at line {where + 1}"
        if expected is None:
            assert not found, (place, found)
        else:
            assert found, f"{place} is accepted"
            assert any(re.search(expected, error) for error in found), (place, found)
        counts[what] += 1
    return counts


total = collections.Counter()
for kernel in kernels:
    done = run(kernel, "--furiosa-pipeline")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.rstrip("\n").split("\n")
    items = parse(lines)
    edits = Edits(lines)
    edit_queue(edits, items)
    edit_program(edits, items)
    edit_buffers(edits, items)
    total += verify(os.path.basename(kernel), edits)
for what, count in sorted(total.items()):
    print(f"{count:>6} {what}")
print(f"{sum(total.values())} edits of {len(kernels)} kernels, as they should be")
