"""Runs that share a cache, at the same time and one after the other.

usage: cache.py PROGRAM CORPUS FOLDER
"""

import filecmp
import glob
import os
import resource
import shutil
import subprocess
import sys

program, corpus, folder = sys.argv[1:]
program = shutil.which(program)
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
inputs = sorted(glob.glob(os.path.join(corpus, "*.mlir")))


def command(out, cache):
    return [program, "compile", *inputs, "-o", os.path.join(folder, out),
            "--cache-dir", os.path.join(folder, cache), "-j1"]


def processor_seconds(out, cache):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command(out, cache), check=True, text=True,
                         stdout=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            run.stdout.splitlines()[-1])


cold, line = processor_seconds("cold", "cache")
assert line == f"{len(inputs)} compiled, 0 cached, 0 failed", line
warm, line = min(processor_seconds(f"warm{i}", "cache") for i in range(5))
assert line == f"0 compiled, {len(inputs)} cached, 0 failed", line
print(f"cold {cold:.3f} s, warm {warm:.3f} s: {100 * warm / cold:.1f} %")
assert warm < 0.1 * cold, (cold, warm)

runs = [subprocess.Popen(command(f"same{i}", "shared"), stdout=subprocess.DEVNULL)
        for i in range(4)]
assert [run.wait() for run in runs] == [0] * 4
names = sorted(os.listdir(os.path.join(folder, "cold")))
for out in "warm0", "same0", "same1", "same2", "same3":
    match, mismatch, errors = filecmp.cmpfiles(
        os.path.join(folder, "cold"), os.path.join(folder, out), names,
        shallow=False)
    assert match == names, (out, mismatch, errors)
