"""Interrupts compile at many times; what it leaves must be whole.

usage: interrupt.py PROGRAM CORPUS FOLDER
"""

import glob
import os
import shutil
import signal
import subprocess
import sys

program, corpus, folder = sys.argv[1:]
program = shutil.which(program)
shutil.rmtree(folder, ignore_errors=True)
inputs = sorted(glob.glob(os.path.join(corpus, "*.mlir")))
whole = os.path.join(folder, "whole")
subprocess.run([program, "compile", *inputs, "-o", whole], check=True,
               stdout=subprocess.DEVNULL)


def read(path):
    with open(path, "rb") as file:
        return file.read()


stopped = 0
for number, how in enumerate([signal.SIGINT, signal.SIGTERM, signal.SIGHUP,
                              signal.SIGKILL] * 3):
    out = os.path.join(folder, f"out{number}")
    cache = os.path.join(folder, f"cache{number % 2}")
    limit = 1 + number * len(inputs) // 13
    process = subprocess.Popen(
        [program, "compile", *inputs, "-o", out, "--cache-dir", cache, "-j2"],
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: how == signal.SIGKILL or
        signal.signal(how, signal.SIG_DFL))
    # When so many artifacts are there.
    while process.poll() is None:
        if os.path.isdir(out) and len(os.listdir(out)) >= limit:
            process.send_signal(how)
            break
    code = process.wait()
    stopped += code == -how
    for name in os.listdir(out) if os.path.isdir(out) else []:
        path = os.path.join(out, name)
        if name.startswith(".furiosa-"):
            # Nothing can be done about a kill; its rest is no artifact.
            assert how == signal.SIGKILL, (how, name)
            continue
        assert read(path) == read(os.path.join(whole, name)), path
assert stopped > 0
# The cache is none the worse.
out = os.path.join(folder, "after")
subprocess.run([program, "compile", *inputs, "-o", out, "--cache-dir", cache],
               check=True, stdout=subprocess.DEVNULL)
for name in os.listdir(whole):
    assert read(os.path.join(out, name)) == read(os.path.join(whole, name)), name
