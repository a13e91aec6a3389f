"""Checks dumps against the schemas of docs/compile.md and against one another.

usage: dumps.py FOLDER KERNEL
"""

import json
import os
import sys

folder, kernel = sys.argv[1:]
INT, STR, LIST, DICT, NULL = int, str, list, dict, type(None)
NUMBER = (int, float)


def load(name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def check(value, fields):
    """Exactly these fields, of these types."""
    assert set(value) == set(fields), set(value) ^ set(fields)
    for name, kind in fields.items():
        if isinstance(kind, dict):
            check(value[name], kind)
        else:
            assert isinstance(value[name], kind), (name, value[name])


# The schedule, every field of the viewer.
schedule = load("schedule.json")
check(schedule, {"title": STR, "total_memory": INT, "page_size": INT,
                 "instructions": LIST, "tensors": LIST, "kernel": STR,
                 "makespan": INT, "lower_bound": INT, "waits": LIST,
                 "loops": LIST, "operands": LIST})
assert schedule["title"] == "Schedule"
assert schedule["total_memory"] == 268435456
assert schedule["page_size"] == 16777216
tensors = {}
for tensor in schedule["tensors"]:
    check(tensor, {"name": STR, "index": STR, "buffer_type": STR,
                   "lifetime": {"begin": INT, "end": INT, "block_begin": INT,
                                "block_end": INT},
                   "address": INT, "size": INT, "physical_pages": LIST,
                   "block_group_id": INT, "block_group_offset": INT, "shape": STR,
                   "fingerprint": NULL})
    assert tensor["buffer_type"] in ("Sram", "Trf", "Vrf")
    assert tensor["size"] % 512 == 0 and tensor["address"] % 512 == 0
    first = tensor["address"] // schedule["page_size"]
    last = (tensor["address"] + tensor["size"] - 1) // schedule["page_size"]
    assert tensor["physical_pages"] == (
        list(range(first, last + 1)) if tensor["buffer_type"] == "Sram" else [])
    tensors[int(tensor["index"])] = tensor
used = set()
busy = {}
for instruction in schedule["instructions"]:
    check(instruction, {"index": STR, "history": DICT, "tpe": STR,
                        "contexts": LIST, "lifetime": {"begin": INT, "end": INT},
                        "input_tensors": LIST, "output_tensors": LIST,
                        "description": STR,
                        "util": {"total_util": NUMBER, "base_util": NUMBER,
                                 "efficiency": NUMBER},
                        "scheduler_node_index": NULL, "after": LIST,
                        "cost": {"cycles": INT, "formula": STR}})
    assert instruction["tpe"] in ("DmaLoad", "DmaStore", "Main", "Sub", "Core")
    assert set(instruction["contexts"]) <= {
        "DmaEngine", "MainContext", "VectorEngine", "SubContext", "PeCore"}
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
def check_graph(graph):
    check(graph, {"tensors": DICT, "operators": DICT, "inputs": LIST,
                  "outputs": LIST, "hidden_outputs": LIST})
    for tensor in graph["tensors"].values():
        check(tensor, {"name": STR, "buffer_type": STR, "shape": DICT,
                       "element_type": STR, "size": (INT, NULL),
                       "optionals": {"address": NULL}})
        assert tensor["buffer_type"] in ("Dram", "Sram", "Trf", "Vrf")
        inner = tensor["shape"]["MultiShape"]["inner"]
        check(inner, {"shape": LIST, "packing": NULL, "offset_shape": NULL,
                      "indirect_vecs": LIST, "tail_alignment": NULL,
                      "calculation_buffer_config": NULL})
    made = set(graph["inputs"])
    touched = set(made)
    for operator in graph["operators"].values():
        check(operator, {"name": STR, "description": STR, "inputs": LIST,
                         "outputs": LIST, "context": STR, "kind": STR,
                         "subgraph": INT, "loop_info": LIST, "history": DICT,
                         "optionals": DICT, "is_external": bool})
        # Written before it is read.
        assert set(operator["inputs"]) <= made, operator
        made |= set(operator["outputs"])
        touched |= set(operator["inputs"] + operator["outputs"])
    assert touched == set(graph["tensors"])
    assert set(graph["outputs"]) <= made
    return graph


dfg = check_graph(load("dfg.json"))
lir = check_graph(load("graph.json"))
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
else:
    mains = [i for i in schedule["instructions"] if i["tpe"] == "Main"]
    subs = [i for i in schedule["instructions"] if i["tpe"] == "Sub"]
    assert [i["contexts"] for i in mains] == [["MainContext", "VectorEngine"]]
    # A pass that fills a VRF keeps both contexts busy.
    assert [i["contexts"] for i in subs] == [["MainContext", "SubContext"]]
    macs = 0

# Figures.
summary = load("summary/summary.json")
STATS = {"total_cycle": INT, "computation_cycle": INT, "main_context_cycle": INT,
         "sub_context_cycle": INT, "io_cycle": INT, "sync_cycle": INT,
         "mac_cycle": INT,
         "main_only_cycle": INT, "sub_only_cycle": INT, "io_only_cycle": INT,
         "operator_cycle": DICT,
         "dram_usage_by_kind": {"io": INT, "weight": INT, "stack": INT,
                                "inter_chip_stack": INT}}
check(summary, {
    "kernel": STR, "release": STR, "makespan": INT, "lower_bound": INT,
    "gap": INT, "mac_utilisation": NUMBER, "total_instruction_cycle": INT, "rlir_stats": STATS,
    "memory_peaks": {"dm": INT, "trf": INT, "vrf": INT, "hbm": INT},
    "memory_capacities": {"dm": INT, "trf": INT, "vrf": INT, "hbm": INT},
    "lir_operator_count": INT, "lir_op_counts": DICT, "resource_op_counts": DICT,
    "num_external_operators": INT, "num_executions": INT, "num_commands": INT,
    "num_binaries": STR, "sum_binary_sizes": STR, "max_binary_sizes": STR,
    "edf_hash": STR, "compile_time": {"ResourceLir": NUMBER, "Edf": NUMBER},
    "compile_phases": DICT, "compile_cpu_time": NUMBER,
    "peak_memory_usage_bytes": INT})
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
assert stats["mac_cycle"] == macs
assert summary["mac_utilisation"] == macs / makespan
assert stats["computation_cycle"] == busy_cycles("Main", "Sub")
assert stats["io_only_cycle"] == busy_cycles(
    "Main", "Sub", "DmaLoad", "DmaStore") - busy_cycles("Main", "Sub")
for tier, name in ("dm", "Sram"), ("trf", "Trf"), ("vrf", "Vrf"):
    lives = [t for t in tensors.values() if t["buffer_type"] == name]
    peak = max((sum(t["size"] // 512 for t in lives
                    if t["lifetime"]["begin"] <= at < t["lifetime"]["end"])
                for at in {t["lifetime"]["begin"] for t in lives}), default=0)
    assert summary["memory_peaks"][tier] == peak, (tier, peak)
lifetimes = load("summary/resourcelir.lifetime.json")
assert set(map(int, lifetimes)) == set(tensors)
assert load("summary/rlir_plot.json") == schedule
assert load("summary/json/lir_ir_viewer.json") == lir
assert load("summary/json/visa_ir_viewer.json") == dfg
assert sorted(os.listdir(os.path.join(folder, "summary"))) == [
    "json", "resourcelir.lifetime.json", "rlir_plot.json", "summary.json",
    "summary.log", "text_form"]
