"""Replays the queue of scheduled kernels trip by trip, and compares.

The queue is taken as it stands, with nothing assumed of loops: commands are
issued in order, waits block, a transfer starts behind the one before, and what
is busy stays busy over back edges. Cycles of all commands in all trips, those
of loops and the makespan must be those of the schedule and of its JSON file.

usage: loop-cycles.py PROGRAM FOLDER KERNEL...
"""

import json
import os
import re
import subprocess
import sys

program, folder, *kernels = sys.argv[1:]
START, END = 1003, 600


class Loop:
    def __init__(self, trips, cycles):
        self.trips, self.cycles, self.body = trips, cycles, []


def parse(text):
    """The program's block, whose entries are ("issue", engine, tag, begin, end),
    ("wait", engine, tag) and loops; its makespan."""
    root = Loop(1, None)
    blocks = [(root, -1)]
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if line.strip() == "}" and indent == blocks[-1][1]:
            blocks.pop()
        if found := re.match(r" *resource\.loop (\d+)\b.*? cycles (\d+)", line):
            loop = Loop(int(found[1]), int(found[2]))
            blocks[-1][0].body.append(loop)
            blocks.append((loop, indent))
        elif found := re.match(r" *resource\.issue (\w+)(?: tag (\d+))? "
                               r"cycles \[(\d+), (\d+)\]", line):
            blocks[-1][0].body.append(
                ("issue", found[1], found[2], int(found[3]), int(found[4])))
        elif found := re.match(r" *resource\.wait (\w+)(?: tag (\d+))?", line):
            blocks[-1][0].body.append(("wait", found[1], found[2]))
    makespan = int(re.search(r"makespan (\d+)", text)[1])
    return root, makespan


class Queue:
    def __init__(self):
        self.clock, self.end = START, START
        # When what a wait asks for is done.
        self.done = {}
        self.transfers = START
        self.commands = []

    def run(self, block, base):
        """Runs a block whose cycles count from `base`."""
        for entry in block:
            if isinstance(entry, Loop):
                begin = self.clock
                for trip in range(entry.trips):
                    start = self.clock
                    self.run(entry.body, start)
                    # The queue stands at the back edge when the trip is over.
                    assert self.clock - start == entry.cycles, (trip, self.clock)
                assert self.clock - begin == entry.trips * entry.cycles
                continue
            kind, engine, tag = entry[:3]
            if kind == "wait":
                self.clock = max(self.clock, self.done.get((engine, tag), 0))
                continue
            begin, end = entry[3:]
            start = self.clock
            if engine == "dma":
                start = max(start, self.transfers)
                self.transfers = start + end - begin
            # What is issued to a busy context would wait for it.
            assert self.done.get((engine, tag), 0) <= self.clock, entry
            assert (begin, end) == (start - base, start + end - begin - base), \
                (entry, start, base)
            self.done[engine, tag] = start + end - begin
            self.end = max(self.end, self.done[engine, tag])
            self.commands.append((engine, start, start + end - begin))


def replay(name, text):
    """The queue of a program, which must end when the program says."""
    root, makespan = parse(text)
    queue = Queue()
    queue.run(root.body, 0)
    assert queue.end + END == makespan, (name, queue.end + END, makespan)
    busy = {}
    for engine, begin, end in queue.commands:
        busy[engine] = busy.get(engine, 0) + end - begin
    print(f"{name}: {len(queue.commands)} commands, {makespan} cycles, "
          f"busiest engine {max(busy.values()) + START + END}")
    return queue.commands, sum(isinstance(entry, Loop) for entry in root.body)


def read_schedule(kernel):
    """Engine and cycles of the commands of the schedule file."""
    path = os.path.join(folder, os.path.basename(kernel))
    subprocess.run([program, "compile", kernel, "--no-cache", "-o",
                    path + ".edf", "--dump-schedule", path + ".json"],
                   check=True, stdout=subprocess.DEVNULL)
    engines = {"DmaLoad": "dma", "DmaStore": "dma", "Main": "main", "Sub": "sub"}
    with open(path + ".json", encoding="utf-8") as file:
        instructions = json.load(file)["instructions"]
    return [(engines[i["tpe"]], i["lifetime"]["begin"], i["lifetime"]["end"])
            for i in sorted((i for i in instructions if i["tpe"] in engines),
                            key=lambda i: int(i["index"]))]


programs = loops = 0
for kernel in kernels:
    scheduled = subprocess.run(
        [program, kernel, "--furiosa-pipeline"], check=True, text=True,
        stdout=subprocess.PIPE).stdout
    parts = re.split(r"^ *resource\.program @", scheduled, flags=re.M)[1:]
    for part in parts:
        commands, found = replay(part.split()[0], part)
        programs += 1
        loops += found
        if len(parts) == 1:
            assert read_schedule(kernel) == commands, kernel
assert loops >= programs / 2, loops
print(f"{programs} kernels with {loops} loops")
