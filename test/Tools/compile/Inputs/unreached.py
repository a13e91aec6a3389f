"""Compiles a kernel alone and among thousands of helpers.

usage: unreached.py PROGRAM KERNEL.mlir FOLDER
"""

import os
import re
import shutil
import subprocess
import sys

program, kernel, folder = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
with open(kernel, encoding="utf-8") as file:
    text = file.read()


def compile_with(name, helpers, *flags):
    """Seconds by phase, and the table."""
    path = os.path.join(folder, name + ".mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "".join(helpers))
    run = subprocess.run(
        [program, "compile", path, "-o", os.path.join(folder, name), "--timing", *flags],
        check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    phases = {what: (float(seconds), int(count)) for seconds, count, what in re.findall(
        r"^ +([0-9.]+) s +(\d+) x (\w[\w ]*)$", run.stderr, re.M)}
    return phases, run.stdout


def read(name):
    with open(os.path.join(folder, name, "gemm_i8.edf"), "rb") as file:
        return file.read()


def make_helpers(count, kind):
    # Each returns what it does not say: nobody may look.
    body = "".join(f"  %{i} = arith.addi %a, %a : index\n" for i in range(10))
    return [f"func.func private @{kind}{i}(%a: index) -> i32 {{\n{body}"
            "  return %a : index\n}\n" for i in range(count)]


alone, table = compile_with("alone", [])
among, table = compile_with("among", make_helpers(3000, "helper"))
assert read("alone") == read("among")
for phase in "check", "passes", "read slice", "encode":
    assert among[phase][1] == alone[phase][1], (phase, among)
    # Much less than what 3,000 functions would cost; the machine may be busy.
    assert among[phase][0] < 20 * alone[phase][0] + 0.05, (phase, alone, among)
# To look up names is less than to read them.
assert among["slice"][0] < among["parse"][0], among

# Other helpers, the same kernel: the same key.
cache = ["--cache-dir", os.path.join(folder, "cache")]
compile_with("first", make_helpers(3, "helper"), *cache)
phases, table = compile_with("second", make_helpers(5, "other"), *cache)
assert "0 compiled, 1 cached, 0 failed" in table, table
