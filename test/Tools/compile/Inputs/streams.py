"""Runs programs with standard streams closed: what would be printed must not get
into a file, and what cannot be printed is an error.

usage: streams.py PROGRAM RUN TRANSLATE KERNEL.mlir FOLDER
"""

import os
import shutil
import subprocess
import sys

program, run_program, translate, kernel, folder = sys.argv[1:]
os.makedirs(folder)
want = os.path.join(folder, "want.edf")
subprocess.run([program, "compile", kernel, "-o", want], check=True,
               stdout=subprocess.DEVNULL)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def call(closed, *command):
    """The exit code of a command without these of its standard streams."""
    process = subprocess.run(
        ["sh", "-c", 'exec "$@" ' + " ".join(f"{number}>&-" for number in closed),
         "sh", *command], check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return process.returncode


for closed in [0], [1], [2], [0, 1], [1, 2], [0, 1, 2]:
    name = "".join(map(str, closed))
    out = os.path.join(folder, f"closed{name}.edf")
    dump = os.path.join(folder, f"closed{name}.mlir")
    for style in "human", "json", "sarif":
        code = call(closed, program, "compile", kernel, "-o", out, "--dump-visa", dump,
                    "--message-format", style, "--timing", "--cache-stats")
        # The table, or the messages, could not be printed. Of standard error
        # nothing can be said.
        assert code == (1 if 1 in closed else 0), (closed, style, code)
        assert read(out) == read(want), (closed, style)
        assert b"visa.kernel" in read(dump)
    assert call(closed, program, "compile", "-", "-o", out) == 1
    edf = os.path.join(folder, f"translated{name}.edf")
    assert call(closed, translate, "--mlir-to-edf", kernel, "-o", edf) == 0, closed
    assert read(edf).startswith(read(want)[:4])
    result = os.path.join(folder, f"result{name}.npy")
    code = call(closed, run_program, kernel, f"--out=result0={result}")
    assert code == (1 if 1 in closed else 0), (closed, code)
    assert read(result).startswith(b"\x93NUMPY")

# Streams that are full: an error of standard output, none of standard error.
for number, code in (1, 1), (2, 0):
    process = subprocess.run(
        ["sh", "-c", f'exec "$@" {number}>/dev/full', "sh", program, "compile", kernel,
         "-o", want, "--timing"], check=False, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    assert process.returncode == code, (number, process.returncode)
