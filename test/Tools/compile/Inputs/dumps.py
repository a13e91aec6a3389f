"""Checks dumps against the schemas in docs/ and against one another.

usage: dumps.py FOLDER KERNEL
"""

import json
import os
import sys

import schema as jsonschema

folder, kernel = sys.argv[1:]


def load(name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def load_checked(name, schema):
    value = load(name)
    jsonschema.validate(value, jsonschema.load_documented(schema))
    return value


schedule = load_checked("schedule.json", "schedule")
tensors = {}
for tensor in schedule["tensors"]:
    assert tensor["size"] % 512 == 0 and tensor["address"] % 512 == 0
    first = tensor["address"] // schedule["page_size"]
    last = (tensor["address"] + tensor["size"] - 1) // schedule["page_size"]
    assert tensor["physical_pages"] == (
        list(range(first, last + 1)) if tensor["buffer_type"] == "Sram" else [])
    tensors[int(tensor["index"])] = tensor
used = set()
busy = {}
for instruction in schedule["instructions"]:
    begin, end = instruction["lifetime"]["begin"], instruction["lifetime"]["end"]
    assert begin <= end
    # A context runs one command at a time, a tensor lives while it is used.
    if instruction["tpe"] in ("Main", "Sub"):
        assert begin >= busy.get(instruction["tpe"], 0)
        busy[instruction["tpe"]] = end
    for index in instruction["input_tensors"] + instruction["output_tensors"]:
        used.add(index)
        if index in tensors:
            life = tensors[index]["lifetime"]
            assert life["begin"] <= begin and end <= life["end"], instruction
    if instruction["tpe"] != "Core":
        assert instruction["description"].startswith("--> "), instruction
assert used >= set(tensors)
*_, core, sync = schedule["instructions"]
assert core["tpe"] == "Core" and sync["index"] == "ExplicitSync(0)"
assert sync["lifetime"]["end"] - sync["lifetime"]["begin"] == 600
makespan = max(i["lifetime"]["end"] for i in schedule["instructions"])


# Graphs.
def check_graph(name):
    graph = load_checked(name, "graph")
    made = set(graph["inputs"])
    touched = set(made)
    for operator in graph["operators"].values():
        # Written before it is read.
        assert set(operator["inputs"]) <= made, operator
        made |= set(operator["outputs"])
        touched |= set(operator["inputs"] + operator["outputs"])
    assert touched == set(graph["tensors"])
    assert set(graph["outputs"]) <= made
    return graph


dfg = check_graph("dfg.json")
lir = check_graph("graph.json")
kinds = [o["kind"] for o in lir["operators"].values()]
if kernel == "gemv_tiled":
    # Two loads, of which one in the loop, two executions, one store.
    assert kinds.count("lir.dma") == 3 and kinds.count("lir.exec") == 2, kinds
    loops = [len(o["loop_info"]) for o in lir["operators"].values()
             if o["kind"] in ("lir.dma", "lir.exec")]
    assert loops == [0, 1, 1, 1, 1], loops
    assert {o["loop_info"][0]["trips"] for o in lir["operators"].values()
            if o["loop_info"]} == {64}
    assert len(dfg["inputs"]) == 2 and len(dfg["outputs"]) == 1
    # 64 trips of a load, a sub, a main and a store; the first load, two at the
    # end.
    assert len(schedule["instructions"]) == 64 * 4 + 1 + 2
    # Two packets of 64 bytes a trip.
    macs = 64 * 2
elif kernel == "elementwise_mul":
    mains = [i for i in schedule["instructions"] if i["tpe"] == "Main"]
    subs = [i for i in schedule["instructions"] if i["tpe"] == "Sub"]
    assert [i["contexts"] for i in mains] == [["MainContext", "VectorEngine"]]
    # A pass that fills a VRF keeps both contexts busy.
    assert [i["contexts"] for i in subs] == [["MainContext", "SubContext"]]
    macs = 0
else:
    macs = None

# Figures.
summary = load_checked("summary/summary.json", "summary")
assert summary["kernel"] == kernel
assert summary["makespan"] == makespan == schedule["makespan"]
assert summary["lower_bound"] == schedule["lower_bound"]
assert summary["gap"] == makespan - summary["lower_bound"]
assert summary["sum_binary_sizes"] == f"[{os.path.getsize(folder + '/k.edf')}]"
assert summary["lir_operator_count"] == len(
    [kind for kind in kinds if kind in ("lir.dma", "lir.exec")])


# Cycles and peaks, computed here from the schedule.
def busy_cycles(*tpes):
    spans = sorted((i["lifetime"]["begin"], i["lifetime"]["end"])
                   for i in schedule["instructions"] if i["tpe"] in tpes)
    total = last = 0
    for begin, end in spans:
        total += max(0, end - max(begin, last))
        last = max(last, end)
    return total


stats = summary["rlir_stats"]
assert stats["main_context_cycle"] == busy_cycles("Main")
assert stats["sub_context_cycle"] == busy_cycles("Sub")
assert stats["io_cycle"] == busy_cycles("DmaLoad", "DmaStore")
assert macs is None or stats["mac_cycle"] == macs
assert summary["mac_utilisation"] == stats["mac_cycle"] / makespan
assert stats["computation_cycle"] == busy_cycles("Main", "Sub")
assert stats["io_only_cycle"] == busy_cycles(
    "Main", "Sub", "DmaLoad", "DmaStore") - busy_cycles("Main", "Sub")
for tier, name in ("dm", "Sram"), ("trf", "Trf"), ("vrf", "Vrf"):
    lives = [t for t in tensors.values() if t["buffer_type"] == name]
    peak = max((sum(t["size"] // 512 for t in lives
                    if t["lifetime"]["begin"] <= at < t["lifetime"]["end"])
                for at in {t["lifetime"]["begin"] for t in lives}), default=0)
    assert summary["memory_peaks"][tier] == peak, (tier, peak)
lifetimes = load_checked("summary/resourcelir.lifetime.json", "lifetimes")
assert set(map(int, lifetimes)) == set(tensors)
assert load("summary/rlir_plot.json") == schedule
assert load("summary/json/lir_ir_viewer.json") == lir
assert load("summary/json/visa_ir_viewer.json") == dfg
assert sorted(os.listdir(os.path.join(folder, "summary"))) == [
    "json", "resourcelir.lifetime.json", "rlir_plot.json", "summary.json",
    "summary.log", "text_form"]
