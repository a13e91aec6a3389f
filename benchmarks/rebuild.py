#!/usr/bin/env python3
"""Rebuild with link after a change of one file, when visa has 80 ops.

Copies the tree's last commit to FOLDER, pads visa with stages of no meaning,
spread over the engines, builds furiosa-opt-mlir once, and then changes the
source file of each engine in turn, with ccache off.
  rebuild.py FOLDER [OPS]
"""

import os
import re
import resource
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DECLARED = "include/furiosa/Dialect/VISA/IR"
DEFINED = "lib/Dialect/VISA/IR"
OP = re.compile(r"^def VISA_\w+ *:.*<\"\w+\"", re.MULTILINE)

DECLARATION = """
def VISA_Padding{0}Op : VISA_Stage<"padding_{0}"> {{
  let summary = "Stage of no meaning";
  let arguments = (ins I64Attr:$value, StrAttr:$time, StrAttr:$packet);
  let assemblyFormat = [{{
    $value `time` custom<MappingText>($time) `packet` custom<MappingText>($packet) attr-dict
  }}];
}}
"""
DEFINITION = """
void furiosa::visa::Padding{0}Op::check(StageChecker &checker, Layout &) {{
  checker.fault("TU-0") << "padding";
}}
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def build(environment=None):
    """Wall and processor seconds."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    begin, before = time.perf_counter(), used()
    subprocess.run(["cmake", "--build", "build", "--target", "furiosa-opt-mlir"],
                   check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - begin, used() - before


def main():
    folder = sys.argv[1]
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 80
    os.makedirs(folder)
    archive = subprocess.run(["git", "-C", ROOT, "archive", "HEAD"], check=True,
                             stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    os.chdir(folder)

    engines = sorted(name[:-3] for name in os.listdir(DECLARED)
                     if name.endswith("Ops.td"))
    ops = sum(len(OP.findall(read(f"{DECLARED}/{engine}.td"))) for engine in engines)
    print(f"visa has {ops} ops, padded to {max(ops, wanted)}", flush=True)
    for number in range(wanted - ops):
        engine = engines[number % len(engines)]
        path = f"{DECLARED}/{engine}.td"
        head, end, tail = read(path).rpartition("#endif")
        write(path, head + DECLARATION.format(number) + "\n" + end + tail)
        path = f"{DEFINED}/{engine}.cpp"
        write(path, read(path) + DEFINITION.format(number))

    subprocess.run(["cmake", "--preset", "default"], check=True,
                   stdout=subprocess.DEVNULL)
    print("all: %.1f s wall, %.1f s of processor" % build(), flush=True)
    for engine in engines:
        path = f"{DEFINED}/{engine}.cpp"
        write(path, read(path) + "\n// Changed.\n")
        seconds = build({**os.environ, "CCACHE_DISABLE": "1"})
        print(f"{engine}.cpp: %.1f s wall, %.1f s of processor" % seconds, flush=True)


if __name__ == "__main__":
    main()
