"""Runs compile where it cannot write.

usage: limits.py PROGRAM KERNELS.mlir FOLDER
"""

import os
import resource
import shutil
import subprocess
import sys

program, kernels, folder = sys.argv[1:]
program = shutil.which(program)
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
whole = os.path.join(folder, "whole")
subprocess.run([program, "compile", kernels, "-o", whole], check=True,
               stdout=subprocess.DEVNULL)


def compile_to(out, *flags, limit=None, **options):
    def before():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run([program, "compile", kernels, "-o", out, *flags],
                          stderr=subprocess.PIPE, text=True,
                          preexec_fn=before, **options)


# Files of at most 1000 bytes; an older artifact stays.
small = os.path.join(folder, "small")
os.makedirs(small)
with open(os.path.join(small, "foo.edf"), "w", encoding="utf-8") as file:
    file.write("old")
run = compile_to(small, limit=1000, stdout=subprocess.PIPE)
assert run.returncode == 1, run
assert "foo.edf': File too large" in run.stderr, run.stderr
assert "0 compiled, 0 cached, 4 failed" in run.stdout, run.stdout
assert os.listdir(small) == ["foo.edf"], os.listdir(small)
with open(os.path.join(small, "foo.edf"), encoding="utf-8") as file:
    assert file.read() == "old"

# A cache that cannot be written does not keep kernels from compiling.
run = compile_to(os.path.join(folder, "x"), "--cache-dir",
                 os.path.join(kernels, "cache"), stdout=subprocess.PIPE)
assert run.returncode == 0, run
assert "warning: cannot make cache folder" in run.stderr, run.stderr

# The table, JSON and a dump do not fit on standard output.
for flags in [], ["--message-format", "json"], ["--message-format", "sarif"], \
        ["--exact", "foo", "--dump-schedule", "-"]:
    with open("/dev/full", "w", encoding="utf-8") as full:
        run = compile_to(os.path.join(folder, "full"), *flags, stdout=full)
    assert run.returncode == 1, (flags, run)
    assert "No space left" in run.stderr, run.stderr

# The folder may not be written to; root may everything, but nobody can make a
# file in this one.
run = compile_to("/proc/self/attr", stdout=subprocess.PIPE)
assert run.returncode == 1 and "4 failed" in run.stdout, run
readonly = os.path.join(folder, "readonly")
os.makedirs(readonly)
os.chmod(readonly, 0o555)
if os.geteuid() != 0:
    run = compile_to(readonly, stdout=subprocess.PIPE)
    assert run.returncode == 1, run
    assert "Permission denied" in run.stderr, run.stderr
assert os.listdir(readonly) == []
