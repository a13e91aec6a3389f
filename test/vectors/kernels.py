#!/usr/bin/env python3
"""Checks whole kernels against values that were computed elsewhere.

Each kernel of kernels.json becomes visa text. A legal one runs in the
interpreter and, compiled, in the simulator; its results must have the hashes
of the file. An illegal one must be refused at the op and with a rule that the
file names. What the stack does not support is skipped and counted.

usage: kernels.py BIN [--keep DIR] [ID...]
BIN has furiosa-opt-mlir and furiosa-run. --keep leaves the texts in DIR. The
folder of kernels.json may be given in FURIOSA_VECTORS.
"""

import argparse
import array
import collections
import concurrent.futures
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

TYPES = {
    "i4": "i4", "i8": "i8", "i16": "i16", "i32": "i32", "u8": "ui8",
    "bf16": "bf16", "f32": "f32", "f8e4m3": "f8E4M3FN", "f8e5m2": "f8E5M2",
    "f4e2m1": "f4E2M1FN", "i5": "i5", "i9": "i9",
}
FLOATS = ("bf16", "f32", "f8e4m3", "f8e5m2", "f4e2m1")
# Bits of the fraction, for the last rounding of a sum.
FRACTION_BITS = {"bf16": 7, "f32": 23, "f8e4m3": 3, "f8e5m2": 2, "f4e2m1": 1}

# Stages of a chain whose clauses are copied, in the order they are written.
CLAUSES = {
    "collect": ("time", "packet"),
    "contract_packet": ("packet",),
    "contract_time": ("time",),
    "transpose": ("time", "packet"),
    "commit_trim": ("packet",),
    "vector_init": (),
    "vector_stash": (),
    "vector_final": (),
}
TIERS = {
    "hbm": ("chip", "element"),
    "dm": ("chip", "cluster", "slice", "element"),
    "trf": ("chip", "cluster", "slice", "lane", "element"),
    "vrf": ("chip", "cluster", "slice", "element"),
}
DEFAULTS = {"chip": "1", "cluster": "1 # 2"}


class Skip(Exception):
    """What the stack, or this script, has no form for."""


class Mismatch(Exception):
    """The stack does not do what the file says."""


def sizes(text, axes):
    """Positions of a mapping, or None where the text is out of the ordinary."""
    tokens = re.findall(r"#\{.\}|[A-Za-z_]\w*|\d+|[\[\],/%#=]", text)
    at = 0

    def primary():
        nonlocal at
        token = tokens[at]
        at += 1
        if token == "[":
            size = terms()
            at += 1
        else:
            size = int(token) if token.isdigit() else axes[token]
        while at < len(tokens) and tokens[at] not in ",]":
            number = int(tokens[at + 1])
            size = -(-size // number) if tokens[at] == "/" else number
            at += 2
        return size

    def terms():
        nonlocal at
        size = primary()
        while at < len(tokens) and tokens[at] == ",":
            at += 1
            size *= primary()
        return size

    try:
        return terms()
    except (IndexError, KeyError, ValueError):
        return None


def walk(ops):
    for op in ops:
        yield op
        yield from walk(op.get("body", ()))


def only(op, *fields):
    """Skips an op that says more than the given fields."""
    extra = sorted(set(op) - {"op", "in", "out", *fields})
    if extra:
        raise Skip(f"{op['op']} with {', '.join(extra)}")


class Tensor:
    """A named tensor: its tier, element type, mappings and SSA name."""

    def __init__(self, tier, dtype, mappings):
        self.tier, self.dtype = tier, dtype
        self.mappings = {name: mappings.get(name, DEFAULTS.get(name))
                         for name in TIERS[tier]}
        self.ssa = None

    def type(self):
        if self.dtype not in TYPES:
            raise Skip(f"type {self.dtype}")
        clauses = [f'{name} "{text}"' for name, text in self.mappings.items()
                   if DEFAULTS.get(name) != text]
        return (f"!visa.{self.tier}<{TYPES[self.dtype]}, "
                + ", ".join(clauses) + ", #axes>")


class Writer:
    """Turns one kernel into text."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.lines = []
        self.tensors = {}
        self.indices = {}
        self.count = 0
        self.indent = "    "
        self.chain = None
        # Ops that stand for another op of the file.
        self.aliases = {}

    def line(self, text):
        self.lines.append(self.indent + text)

    def name(self, base="t"):
        self.count += 1
        return f"%{base}{self.count}"

    def get(self, name):
        return self.tensors[name]

    def bind(self, name, tensor):
        tensor.ssa = self.name(re.sub(r"\W", "_", name))
        self.tensors[name] = tensor
        return tensor

    def constant(self, value):
        ssa = self.name("c")
        self.line(f"{ssa} = arith.constant {value} : index")
        return ssa

    def text(self):
        kernel = self.kernel
        arguments = []
        for arg in kernel["args"]:
            tensor = self.bind(arg["name"], Tensor("hbm", arg["dtype"], arg))
            arguments.append(f"{tensor.ssa}: {tensor.type()}")
        self.ops(kernel["ops"])
        self.close()
        results = [self.store(self.get(name)) for name in kernel["results"]]
        hbm = [tensor for tensor in results if tensor.tier == "hbm"]
        types = ", ".join(tensor.type() for tensor in hbm)
        self.line("return" + (" " + ", ".join(t.ssa for t in hbm) + " : " +
                              types if hbm else ""))
        axes = ", ".join(f"{n} = {s}" for n, s in kernel["axes"].items())
        chips, pes = self.grid()
        return "\n".join([
            f"#axes = #tmap.axes<{axes}>",
            'module attributes {visa.target = #visa.target<rngd, release = '
            f'"0.6", chips = {chips}, pes = {pes}>}} {{',
            f"  func.func @kernel({', '.join(arguments)})" +
            (f" -> ({types})" if hbm else "") + " attributes {visa.kernel} {",
            *self.lines, "  }", "}", ""])

    def store(self, tensor):
        """A result in DM goes to HBM, its cells in the same order."""
        if tensor.tier != "dm" or "error" in self.kernel["expect"]:
            return tensor
        parts = [tensor.mappings[name] for name in ("cluster", "slice",
                                                    "element")]
        target = Tensor("hbm", tensor.dtype, {"element": ", ".join(
            part for part in parts if part not in ("1", "1 # 2"))})
        target.ssa = self.name()
        self.line(f"{target.ssa} = visa.to_hbm {tensor.ssa} : {tensor.type()} "
                  f"-> {target.type()}")
        return target

    def grid(self):
        """Chips and PEs: those that the mappings of the first op show."""
        axes = self.kernel["axes"]
        chips = pes = None
        for source in self.kernel["args"] + list(walk(self.kernel["ops"])):
            if "chip" in source and source.get("dim") is None:
                chips = chips or sizes(source["chip"], axes)
            if "slice" in source and "cluster" in source:
                clusters = sizes(source["cluster"], axes)
                slices = sizes(source["slice"], axes)
                if clusters == 1:
                    pes = pes or {64: 1, 128: 2, 256: 4}.get(slices)
        return chips or 1, pes or 8

    def ops(self, ops):
        for op in ops:
            method = getattr(self, "op_" + op["op"], None)
            if op["op"] in CLAUSES:
                method = self.stage
            if method is None:
                raise Skip(f"op {op['op']}")
            method(op)

    # Outside chains.

    def move(self, op, tier):
        only(op, "chip", "cluster", "slice", "element")
        source = self.get(op["in"])
        target = self.bind(op["out"], Tensor(tier, source.dtype, op))
        if source.tier == tier:
            self.aliases["copy"] = op["op"]
            self.line(f"{target.ssa} = visa.alloc : {target.type()}")
            self.copy(source, target)
            return
        self.line(f"{target.ssa} = visa.to_{tier} {source.ssa} : "
                  f"{source.type()} -> {target.type()}")

    def copy(self, source, target):
        self.line(f"visa.copy {source.ssa} into {target.ssa} : "
                  f"{source.type()}, {target.type()}")

    def op_to_dm(self, op):
        self.move(op, "dm")

    def op_to_hbm(self, op):
        self.move(op, "hbm")

    def op_move_view(self, op):
        only(op, "into")
        self.aliases["copy"] = "move_view"
        self.copy(self.get(op["in"]), self.get(op["into"]))
        if "out" in op:
            self.tensors[op["out"]] = self.get(op["into"])

    def op_alloc(self, op):
        only(op, "tier", "dtype", "chip", "cluster", "slice", "element")
        target = self.bind(op["out"], Tensor(op["tier"], op["dtype"], op))
        self.line(f"{target.ssa} = visa.alloc : {target.type()}")

    def start(self, start):
        """A number, or the SSA name of a sum over loop counters."""
        if not isinstance(start, dict):
            return str(start)
        total = None
        for var, factor in start.items():
            if var == "const":
                term = self.constant(factor)
            elif factor == 1:
                term = self.indices[var]
            else:
                term = self.name("i")
                scale = self.constant(factor)
                self.line(f"{term} = arith.muli {self.indices[var]}, {scale} "
                          ": index")
            if total is not None:
                both = self.name("i")
                self.line(f"{both} = arith.addi {total}, {term} : index")
                term = both
            total = term
        return total

    def op_tile(self, op):
        only(op, "dim", "index", "len", "view", "start", "mode")
        dim = op.get("dim", "element")
        source = self.get(op["in"])
        start = self.start(op["start"])
        target = self.bind(op["out"], Tensor(
            source.tier, source.dtype, source.mappings | {dim: op["view"]}))
        of = "" if dim == "element" else f" of {dim}"
        self.line(f"{target.ssa} = visa.tile {source.ssa}[{start}]{of} along "
                  f"\"{op['index']}\" take {op['len']} : {source.type()} -> "
                  f"{target.type()}")

    def view(self, op):
        only(op, "chip", "cluster", "slice", "element")
        source = self.get(op["in"])
        target = self.bind(op["out"], Tensor(
            source.tier, source.dtype, source.mappings | op))
        self.line(f"{target.ssa} = visa.{op['op']} {source.ssa} : "
                  f"{source.type()} -> {target.type()}")

    op_reshape = op_pad = op_unpad = view

    def op_memset(self, op):
        only(op, "dtype", "chip", "cluster", "slice", "element", "value")
        target = self.bind(op["out"], Tensor("dm", op["dtype"], op))
        type = target.type()
        self.line(f"{target.ssa} = visa.alloc : {type}")
        value, number = self.name("v"), op["value"]
        if op["dtype"] in FLOATS:
            number = f"{float(number):e}"
        self.line(f"{value} = arith.constant {number} : "
                  f"{TYPES[op['dtype']]}")
        self.line(f"visa.memset {target.ssa} with {value} : {type}, "
                  f"{TYPES[op['dtype']]}")

    def op_gather(self, op):
        only(op, "scaled", "chip", "cluster", "slice", "element")
        table, index = (self.get(name) for name in op["in"])
        target = self.bind(op["out"], Tensor("dm", table.dtype, op))
        scaled = "scaled " if op["scaled"] else ""
        self.line(f"{target.ssa} = visa.gather {scaled}{table.ssa} by "
                  f"{index.ssa} : {table.type()}, {index.type()} -> "
                  f"{target.type()}")

    def op_scatter(self, op):
        only(op, "scaled")
        data, index, target = (self.get(name) for name in op["in"])
        scaled = "scaled " if op["scaled"] else ""
        self.line(f"visa.scatter {scaled}{data.ssa} by {index.ssa} into "
                  f"{target.ssa} : {data.type()}, {index.type()}, "
                  f"{target.type()}")
        if "out" in op:
            self.tensors[op["out"]] = target

    def op_for(self, op):
        only(op, "var", "from", "to", "step", "body")
        bounds = [self.constant(value)
                  for value in (op["from"], op["to"], op.get("step", 1))]
        counter = self.indices[op["var"]] = self.name("i")
        self.line(f"scf.for {counter} = {bounds[0]} to {bounds[1]} step "
                  f"{bounds[2]} {{")
        self.indent += "  "
        outer = dict(self.tensors)
        self.ops(op["body"])
        self.close()
        self.tensors = outer
        self.indent = self.indent[2:]
        self.line("}")

    # Chains.

    def op_begin(self, op):
        only(op, "ctx")
        self.close()
        self.chain = {"ctx": op["ctx"], "source": self.get(op["in"]),
                      "dtype": self.get(op["in"]).dtype, "stages": []}

    def op_begin_interleaved(self, op):
        only(op, "ctx", "axis")
        self.close()
        source, other = (self.get(name) for name in op["in"])
        self.chain = {"ctx": op["ctx"], "source": source, "other": other,
                      "along": op["axis"], "dtype": source.dtype, "stages": []}

    def close(self, name=None, tier="dm", mappings=None):
        """Writes the chain; its tensor lies where the stream came from."""
        chain, self.chain = self.chain, None
        if chain is None:
            return
        if "slice" in chain:
            mappings = {"slice": chain["slice"]} | (mappings or {})
        target = Tensor(tier, chain["dtype"], chain["source"].mappings | (
            mappings or {"element": "1 # 8"}))
        self.bind(name or "unfinished", target)
        self.line(f"{target.ssa} = visa.chain {chain['ctx']} -> "
                  f"{target.type()} {{")
        for stage in chain["stages"]:
            self.line("  " + stage)
        self.line("}")

    def add(self, text):
        self.chain["stages"].append(text)

    def stage(self, op):
        clauses = CLAUSES[op["op"]]
        only(op, *clauses)
        self.add(" ".join([op["op"]] +
                          [f'{name} "{op[name]}"' for name in clauses]))

    def op_fetch(self, op):
        only(op, "time", "packet")
        source, other = self.chain["source"], self.chain.get("other")
        pair = (f' interleave {other.ssa} along "{self.chain["along"]}"'
                if other else "")
        self.add(f'fetch {source.ssa}{pair} time "{op["time"]}" packet '
                 f'"{op["packet"]}" : {source.type()}'
                 + (f", {other.type()}" if other else ""))

    def convert(self, to):
        if to not in TYPES:
            raise Skip(f"type {to}")
        self.chain["dtype"] = to
        return TYPES[to]

    def op_fetch_cast(self, op):
        only(op, "to")
        self.add(f"fetch_cast to {self.convert(op['to'])}")

    def op_table_lookup(self, op):
        only(op, "to")
        self.add(f"table_lookup to {self.convert(op['to'])}")

    def op_zero_point_sub(self, op):
        only(op, "zero_point")
        self.convert({"i4": "i5"}.get(self.chain["dtype"], "i9"))
        self.add(f"zero_point_sub {op['zero_point']}")

    def op_switch(self, op):
        only(op, "config", "params", "slice", "time")
        config = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", op["config"]).lower()
        self.chain["slice"] = op["slice"]
        self.add(f'switch {config} {op["params"]} slice "{op["slice"]}" time '
                 f'"{op["time"]}"')

    def commit_cast(self, op):
        only(op, "to")
        self.add(f"{op['op']} to {self.convert(op['to'])}")

    op_commit_cast = op_commit_cast_relu = commit_cast

    def op_cast(self, op):
        only(op, "to", "packet")
        self.add(f'cast to {self.convert(op["to"])} packet "{op["packet"]}"')

    def op_contract_outer(self, op):
        only(op, "trf", "time", "packet")
        weight = self.get(op["trf"])
        self.chain["dtype"] = (
            "f32" if self.chain["dtype"] in FLOATS else "i32")
        self.add(f'contract_outer {weight.ssa} time "{op["time"]}" packet '
                 f'"{op["packet"]}" : {weight.type()}')

    def op_contract_lane(self, op):
        only(op, "mode", "time", "packet")
        self.add(f'contract_lane {op["mode"]} time "{op["time"]}" packet '
                 f'"{op["packet"]}"')

    # The vector engine.

    def scalar(self, value):
        """An immediate: floats with a point, whatever they are."""
        return repr(float(value)) if isinstance(value, float) else str(value)

    def slot(self, slot, tensors):
        if slot is None:
            return "skip"
        extra = set(slot) - {"imm", "imm2", "vrf", "stash", "guard"}
        if extra:
            raise Skip("vector slot with " + ", ".join(sorted(extra)))
        if "vrf" in slot:
            tensors.append(self.get(slot["vrf"]))
            text = f"vrf {tensors[-1].ssa}"
        else:
            text = "stash" if slot.get("stash") else (
                f"imm {self.scalar(slot['imm'])}")
        if "imm2" in slot:
            text += f" with {self.scalar(slot['imm2'])}"
        if "guard" in slot:
            text += f" if \"{slot['guard']}\""
        return text

    def vector_alu(self, op):
        """A stage with an ALU: `vector_fxp add [imm 1, vrf %v]`."""
        only(op, "fn", "mode", "args", "guard", "group")
        tensors = []
        text = op["op"] + (f" {op['fn']}" if "fn" in op else "")
        slots = op.get("group", op.get("args", ()))
        if "group" in op:
            text += " group"
        if slots:
            text += " [" + ", ".join(self.slot(slot, tensors)
                                     for slot in slots) + "]"
        if "mode" in op:
            text += f" mode \"{op['mode']}\""
        if "guard" in op:
            text += f" if \"{op['guard']}\""
        if tensors:
            text += " : " + ", ".join(t.type() for t in tensors)
        self.add(text)

    op_vector_logic = op_vector_fxp = op_vector_fp = vector_alu
    op_vector_fp_div = op_vector_clip = vector_alu

    def op_vector_tag(self, op):
        only(op, "mode", "compare")
        text = f"vector_tag {op['mode']}"
        if "compare" in op:
            text += " [" + ", ".join(
                " ".join([c[0]] + [self.scalar(v) for v in c[1:]])
                for c in op["compare"]) + "]"
        self.add(text)

    def op_vector_fxp_to_fp(self, op):
        only(op, "width")
        self.chain["dtype"] = "f32"
        self.add(f"vector_fxp_to_fp width {op['width']}")

    def op_vector_fp_to_fxp(self, op):
        only(op, "width")
        self.chain["dtype"] = "i32"
        self.add(f"vector_fp_to_fxp width {op['width']}")

    def op_vector_reinterpret(self, op):
        only(op, "to")
        self.add(f"vector_reinterpret to {self.convert(op['to'])}")

    def vector_ways(self, op):
        only(op, "kind", "time", "packet")
        time = f"time \"{op['time']}\" " if "time" in op else ""
        self.add(f"{op['op']} {op['kind']} {time}packet \"{op['packet']}\"")

    op_vector_narrow = op_vector_widen = vector_ways

    def op_vector_reduce(self, op):
        only(op, "axis", "fn", "time", "packet")
        self.add(f"vector_reduce {op['fn']} axis \"{op['axis']}\" time "
                 f"\"{op['time']}\" packet \"{op['packet']}\"")

    def op_vector_inter_slice_reduce(self, op):
        only(op, "fn", "slice", "time")
        self.chain["slice"] = op["slice"]
        self.add(f"vector_inter_slice_reduce {op['fn']} slice "
                 f"\"{op['slice']}\" time \"{op['time']}\"")

    def op_vector_unzip(self, op):
        only(op, "axis", "time")
        self.add(f"vector_unzip axis \"{op['axis']}\" time \"{op['time']}\"")

    def op_vector_zip(self, op):
        only(op, "stage", "fn", "mode")
        mode = f" mode \"{op['mode']}\"" if "mode" in op else ""
        self.add(f"vector_zip {op['stage']} {op['fn']}{mode}")

    def op_to_trf(self, op):
        only(op, "lane", "element")
        self.add(f'to_trf lane "{op["lane"]}" element "{op["element"]}"')
        self.close(op["out"], "trf",
                   {"lane": op["lane"], "element": op["element"]})

    def op_to_vrf(self, op):
        only(op, "element")
        self.add(f'to_vrf element "{op["element"]}"')
        self.close(op["out"], "vrf", {"element": op["element"]})

    def op_commit_view(self, op):
        only(op, "into")
        into = self.get(op["into"])
        self.aliases["commit"] = "commit_view"
        self.add(f'commit element "{into.mappings["element"]}" into '
                 f"{into.ssa} : {into.type()}")
        self.close(op.get("out"), "dm", into.mappings)

    def op_commit(self, op):
        only(op, "element")
        self.add(f'commit element "{op["element"]}"')
        self.close(op["out"], "dm", {"element": op["element"]})


def npy_of_data(arg, axes, path):
    """Writes the values of an argument that is a plain list of axes."""
    names = [name.strip() for name in arg["element"].split(",")]
    if (arg["dtype"] != "i32" or arg.get("chip", "1") != "1"
            or not all(name in axes for name in names)):
        raise Skip("data of a tensor that is no plain list of axes of i32")
    shape = "".join(f"{axes[name]}, " for name in names)
    header = ("{'descr': '<i4', 'fortran_order': False, 'shape': "
              f"({shape})}}").encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    values = arg["init"]["values"]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                   header + struct.pack(f"<{len(values)}i", *values))


def argument_spec(arg, axes, path):
    init = arg["init"]
    if init["gen"] == "data":
        npy_of_data(arg, axes, path)
        return path
    if init["gen"] == "iota":
        return f"iota:{init.get('start', 0)}:{init.get('step', 1)}"
    if init["gen"] == "const":
        return f"const:{init['value']}"
    return f"{init['gen']}:{init['seed']}"


def decode_float(dtype, code):
    if dtype == "bf16":
        return struct.unpack("<f", struct.pack("<I", code << 16))[0]
    if dtype == "f32":
        return struct.unpack("<f", struct.pack("<I", code))[0]
    return None


def read_npy(path):
    """Values of a little-endian f32 array in row-major order."""
    with open(path, "rb") as file:
        content = file.read()
    start = 10 + struct.unpack_from("<H", content, 8)[0]
    if b"'<f4'" not in content[:start]:
        return None
    values = array.array("f")
    values.frombytes(content[start:])
    if sys.byteorder == "big":
        values.byteswap()
    return values


def within_tolerance(expected, tolerance, mapping, axes, path):
    """Compares the known codes of a float result; where the file gives no
    bound that is understood here, nothing is compared."""
    bound = tolerance.get("sum_abs")
    terms = [term.strip() for term in mapping.split(",")]
    plain = all(term in axes or term == "1" for term in terms)
    values = read_npy(path)
    if bound is None or not plain or values is None:
        return None
    known = list(enumerate(expected["first"])) + expected.get("samples", [])
    for position, code in known:
        want = decode_float(expected["dtype"], int(code, 16))
        if want is None:
            return None
        found = values[position]
        last = 2.0 ** -FRACTION_BITS[expected["dtype"]] * max(
            abs(want), abs(found))
        if not math.isclose(found, want, rel_tol=0, abs_tol=bound + last):
            raise Mismatch(f"element {position} is {found}, expected {want} "
                           f"within {bound}")
    return len(known)


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=600,
                          check=False)


def first_error(stderr):
    found = re.search(r"error: (.*)", stderr)
    return found.group(1) if found else (stderr.strip() or "no message")


def not_yet_supported(message):
    """The reason without what differs from kernel to kernel, or None."""
    found = re.search(r"(?:'([\w.]+)' op )?(?:.*: )?not yet supported: (.*)",
                      message)
    if not found:
        return None
    reason = re.sub(r'"[^"]*"', '"…"', found.group(2))
    reason = re.sub(r"\d+", "N", re.split(r"; ", reason)[0])
    return (f"{found.group(1)}: " if found.group(1) else "") + reason


def check_illegal(bin_dir, kernel, writer, path):
    expected = kernel["expect"]["error"]
    process = run([os.path.join(bin_dir, "furiosa-opt-mlir"), path,
                   "-o", os.devnull])
    if process.returncode == 0:
        raise Mismatch(f"accepted, expected {expected['rules']} at "
                       f"{expected['op']}")
    message = first_error(process.stderr)
    reason = not_yet_supported(message)
    if reason:
        raise Skip("not yet supported: " + reason)
    found = re.match(r"'(?:visa\.)?([\w.]+)' op ([^:]*):", message)
    if not found:
        raise Mismatch(f"refused without a rule, expected {expected['rules']} "
                       f"at {expected['op']}: {message}")
    rules = re.findall(r"[A-Z]{2}-\d+", found.group(2))
    ops = {found.group(1), writer.aliases.get(found.group(1))}
    if expected["op"] not in ops or not set(rules) & set(expected["rules"]):
        raise Mismatch(f"expected {expected['rules']} at {expected['op']}: "
                       f"{message}")
    return "refused with the rule and at the op expected"


def check_accepted(bin_dir, path):
    """The checks alone, for results that no tool can print."""
    process = run([os.path.join(bin_dir, "furiosa-opt-mlir"), path,
                   "-o", os.devnull])
    if process.returncode != 0:
        message = first_error(process.stderr)
        reason = not_yet_supported(message)
        if not reason:
            raise Mismatch("expected to be accepted: " + message)
        raise Skip("not yet supported: " + reason)


def check_legal(bin_dir, kernel, path):
    axes = kernel["axes"]
    specs = [argument_spec(arg, axes, f"{path}.{arg['name']}.npy")
             for arg in kernel["args"]]
    out = path + ".out"
    command = [os.path.join(bin_dir, "furiosa-run"), path, *specs]
    process = run(command + ["--check", "-o", out])
    how = "interpreter and simulator"
    reason = None
    if process.returncode != 0:
        message = first_error(process.stderr)
        reason = not_yet_supported(message)
        lenient = set(re.findall(r"[A-Z]{2}-\d+", message.split(": ")[0]))
        if lenient & set(kernel.get("lenient", ())):
            return "refused where refusing and computing are both right"
        if not reason:
            raise Mismatch("expected to run: " + message)
        # What cannot be compiled may still be interpreted.
        process = run(command + ["-o", out])
        if process.returncode != 0:
            raise Skip("not yet supported: " + reason)
        how = "interpreter only, not compiled: " + reason
    found = re.findall(r"^(\w+): .*, (\d+) elements, hash ([0-9a-f]+)\n"
                       r".*\n?(?:  (\d+) elements are undefined)?",
                       process.stdout, re.MULTILINE)
    # Arguments that the kernel writes come behind its results.
    found = found[:len(kernel["results"])]
    if len(found) != len(kernel["results"]):
        raise Mismatch(f"no summary of each result: {process.stdout}")
    mappings = {op["out"]: op.get("element") for op in walk(kernel["ops"])
                if "out" in op}
    for name, (label, count, digest, undefined) in zip(kernel["results"],
                                                       found):
        expected = kernel["expect"]["results"][name]
        if int(count) != expected["count"]:
            raise Mismatch(f"{name} has {count} live cells, expected "
                           f"{expected['count']}")
        if int(undefined or 0) != expected.get("undefined", 0):
            raise Mismatch(f"{name} has {undefined or 0} undefined cells, "
                           f"expected {expected.get('undefined', 0)}")
        if int(digest, 16) == int(expected["hash"], 16):
            continue
        tolerance = expected.get("tolerance",
                                 kernel["expect"].get("tolerance"))
        if tolerance is not None:
            compared = within_tolerance(expected, tolerance, mappings[name],
                                        axes,
                                        os.path.join(out, label + ".npy"))
            how += (", without values" if compared is None
                    else ", within the tolerance")
            continue
        raise Mismatch(f"{name} has hash {digest}, expected "
                       f"{expected['hash']}; first codes expected "
                       f"{expected['first'][:8]}, found: {process.stdout}")
    return how


def check(bin_dir, kernel, directory):
    """("passed" | "skipped" | "FAILED", why) of one kernel."""
    path = os.path.join(directory,
                        re.sub(r"\W", "_", kernel["id"]) + ".mlir")
    try:
        for op in walk(kernel["ops"]):
            if op["op"] not in CLAUSES and not hasattr(Writer,
                                                       "op_" + op["op"]):
                raise Skip(f"op {op['op']}")
        writer = Writer(kernel)
        text = writer.text()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        if "error" in kernel["expect"]:
            return "passed", check_illegal(bin_dir, kernel, writer, path)
        tiers = sorted({writer.get(name).tier for name in kernel["results"]}
                       - {"hbm", "dm"})
        if tiers:
            check_accepted(bin_dir, path)
            raise Skip(f"result in {', '.join(tiers)}; accepted, not run")
        return "passed", check_legal(bin_dir, kernel, path)
    except Skip as skip:
        return "skipped", str(skip)
    except Mismatch as mismatch:
        return "FAILED", str(mismatch)
    except subprocess.TimeoutExpired as timeout:
        return "FAILED", str(timeout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bin", help="folder of the tools")
    parser.add_argument("ids", nargs="*", metavar="ID",
                        help="only these kernels")
    parser.add_argument("--keep", metavar="DIR", help="leave the texts here")
    options = parser.parse_intermixed_args()
    folder = os.environ.get("FURIOSA_VECTORS",
                            os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(folder, "kernels.json"), encoding="utf-8") as file:
        kernels = json.load(file)["kernels"]
    if options.ids:
        kernels = [k for k in kernels if k["id"] in options.ids]
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or temporary
        os.makedirs(directory, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            outcomes = list(pool.map(
                lambda kernel: check(options.bin, kernel, directory), kernels))
    histogram = collections.Counter()
    for kernel, (status, why) in zip(kernels, outcomes):
        if status == "FAILED":
            print(f"FAILED: {kernel['id']}: {why}")
            why = "all"
        elif options.ids:
            print(f"{status}: {kernel['id']}: {why}")
        histogram[status, why] += 1
    for status in ("FAILED", "skipped", "passed"):
        total = sum(n for (s, _), n in histogram.items() if s == status)
        print(f"{total} {status}")
        for (key, why), number in histogram.most_common():
            if key == status != "FAILED":
                print(f"  {number:3} {why}")
    statuses = [status for status, _ in outcomes]
    sys.exit(0 if "FAILED" not in statuses and "passed" in statuses else 1)


if __name__ == "__main__":
    main()
