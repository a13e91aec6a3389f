"""Checks a dumped schedule and its trace against the schema and one another.

usage: schedule.py SCHEMA SCHEDULE TRACE
"""

import copy
import json
import re
import sys

import schema as jsonschema


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


schema, schedule, trace = map(load, sys.argv[1:])
jsonschema.validate(schedule, schema)


def refuses(change):
    damaged = copy.deepcopy(schedule)
    change(damaged)
    try:
        jsonschema.validate(damaged, schema)
    except AssertionError:
        return True
    return False


# The schema is not satisfied by just anything.
assert refuses(lambda s: s.pop("makespan"))
assert refuses(lambda s: s["instructions"][0].pop("cost"))
assert refuses(lambda s: s["instructions"][0].update(tpe="Other"))
assert refuses(lambda s: s["instructions"][0]["lifetime"].update(begin="0"))
assert refuses(lambda s: s.update(other=1))

instructions = {i["index"]: i for i in schedule["instructions"]}
loops = {loop["index"]: loop for loop in schedule["loops"]}
assert not set(instructions) & set(loops)
assert schedule["makespan"] == max(
    i["lifetime"]["end"] for i in instructions.values())
assert 0 < schedule["lower_bound"] <= schedule["makespan"]
numbers = {int(o["index"]) for o in schedule["operands"]}
tensors = {int(t["index"]): t for t in schedule["tensors"]}
assert not numbers & set(tensors)


def touches(instruction):
    """Tensors, with whether each is written."""
    return {(tensor, False) for tensor in instruction["input_tensors"]} | {
        (tensor, True) for tensor in instruction["output_tensors"]}


for instruction in instructions.values():
    begin, end = instruction["lifetime"]["begin"], instruction["lifetime"]["end"]
    assert {tensor for tensor, _ in touches(instruction)} <= numbers | set(tensors)
    cost = instruction["cost"]
    # A transfer may wait behind others, but nothing takes longer than it costs.
    assert end - begin == cost["cycles"], instruction
    # The numbers of the formula give the cycles.
    formula = cost["formula"].split(" = ")[0]
    assert formula, instruction
    total = 0
    largest = re.match(r"max\((.*)\) (.*)", formula)
    rest = formula
    if largest:
        total = max(int(n) for n in re.findall(r"\d+", largest.group(1)))
        rest = largest.group(2)
    for sign, number in re.findall(r"([-+]?) ?(?:[a-z ]+ )?(\d+)", rest):
        total += -int(number) if sign == "-" else int(number)
    assert total == cost["cycles"], (total, cost)
    for index in instruction["after"]:
        before = instructions.get(index) or loops[index]
        assert before["lifetime"]["end"] <= begin, (instruction, before)
        if index in instructions:
            mine, its = touches(instruction), touches(before)
            assert any(a == b and (x or y) for a, x in mine for b, y in its)
# Whatever follows a write that it reads, in the order of the queue, is behind it.
order = sorted((int(i), v) for i, v in instructions.items() if i.isdigit())
written = {}
for index, instruction in order:
    for tensor in instruction["input_tensors"]:
        if tensor in written and not loops:
            assert written[tensor]["lifetime"]["end"] <= \
                instruction["lifetime"]["begin"], instruction
    for tensor in instruction["output_tensors"]:
        written[tensor] = instruction
for wait in schedule["waits"]:
    target = instructions[wait["instruction"]]
    assert int(target["index"]) < int(wait["index"])
    assert wait["lifetime"]["begin"] <= wait["lifetime"]["end"]
    assert wait["lifetime"]["end"] in (wait["lifetime"]["begin"],
                                       target["lifetime"]["end"])
    engine = {"DmaLoad": "dma", "DmaStore": "dma", "Main": "main", "Sub": "sub"}
    assert wait["engine"] == engine[target["tpe"]]
    assert (wait["tag"] is not None) == (wait["engine"] == "dma")
for loop in loops.values():
    begin, end = loop["lifetime"]["begin"], loop["lifetime"]["end"]
    assert end - begin == loop["trips"] * loop["cycles"]

# The trace: the same spans, on tracks where nothing overlaps.
events = trace["traceEvents"]
assert trace["otherData"] == {name: schedule[name] for name in
                              ("kernel", "makespan", "lower_bound")}
tracks = {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}
assert list(tracks) == ["Queue", "DMA", "Main", "Sub", "Core"]


def cycle(event, field="ts"):
    return round(event[field] * 1000)


spans = [e for e in events if e["ph"] == "X"]
shown = {}
for event in spans:
    begin, end = cycle(event), cycle(event) + cycle(event, "dur")
    assert all(end <= b or e <= begin for b, e in shown.get(event["tid"], [])), event
    shown.setdefault(event["tid"], []).append((begin, end))
lives = {"DmaLoad": "DMA", "DmaStore": "DMA", "Main": "Main", "Sub": "Sub",
         "Core": "Core"}
assert sorted((tracks[lives[i["tpe"]]], i["lifetime"]["begin"], i["lifetime"]["end"])
              for i in instructions.values()) == sorted(
    (e["tid"], cycle(e), cycle(e) + cycle(e, "dur")) for e in spans
    if e["tid"] != tracks["Queue"])
assert len([e for e in spans if e["tid"] == tracks["Queue"]]) == len(
    [w for w in schedule["waits"] if w["lifetime"]["begin"] < w["lifetime"]["end"]])
starts = {e["id"]: e for e in events if e["ph"] == "s"}
ends = {e["id"]: e for e in events if e["ph"] == "f"}
assert set(starts) == set(ends)
assert len(starts) == sum(index in instructions for i in instructions.values()
                          for index in i["after"])
for number, start in starts.items():
    assert cycle(start) <= cycle(ends[number])
    assert any(b <= cycle(start) < e for b, e in shown[start["tid"]]), start
    assert any(b == cycle(ends[number]) for b, e in shown[ends[number]["tid"]])
for memory in {t["buffer_type"] for t in tensors.values()}:
    counts = {cycle(e): e["args"]["live"] for e in events
              if e["ph"] == "C" and e["name"] == f"{memory} bytes"}
    for at, live in counts.items():
        assert live == sum(t["size"] // 512 for t in tensors.values()
                           if t["buffer_type"] == memory and
                           t["lifetime"]["begin"] <= at < t["lifetime"]["end"])
