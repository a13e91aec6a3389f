"""Compiles with caches that do not work: as if there was none.

usage: bad-cache.py PROGRAM KERNELS.mlir FOLDER
"""

import glob
import os
import shutil
import subprocess
import sys

program, kernels, folder = sys.argv[1:]
program = shutil.which(program)
os.makedirs(folder)
whole = os.path.join(folder, "whole")
subprocess.run([program, "compile", kernels, "-o", whole], check=True,
               stdout=subprocess.DEVNULL)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def compile_with(cache, status, prefix=()):
    out = os.path.join(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    run = subprocess.run([*prefix, program, "compile", kernels, "-o", out, "--cache-dir",
                          cache, "--cache-stats"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    assert run.returncode == 0, run
    assert f"4 {status}" in run.stdout.splitlines()[-1], run
    for name in os.listdir(whole):
        assert read(os.path.join(out, name)) == read(os.path.join(whole, name)), name
    return run


# Entries of all kinds of damage.
cache = os.path.join(folder, "cache")
compile_with(cache, "compiled")
compile_with(cache, "cached")
entries = sorted(glob.glob(os.path.join(cache, "llvmcache-*")))
assert len(entries) == 5, entries


def damage(change):
    for entry in entries:
        change(entry)
    compile_with(cache, "compiled")


def replace(data):
    def change(entry):
        with open(entry, "wb") as file:
            file.write(data)
    return change


def flip(at):
    def change(entry):
        data = bytearray(read(entry))
        data[at] ^= 1
        replace(bytes(data))(entry)
    return change


damage(replace(b""))
damage(replace(b"\0" * 15))
damage(replace(b"\0" * 100000))
for place in 0, 15, 16, 17, -1:
    damage(flip(place))
damage(os.remove)
# An entry of another key.
good = read(entries[-1])
compile_with(cache, "cached")


def make_folder(entry):
    os.remove(entry)
    os.mkdir(entry)


# What cannot be replaced is missed each time.
damage(make_folder)
compile_with(cache, "compiled")
for entry in entries:
    os.rmdir(entry)
    os.symlink("nowhere", entry)
compile_with(cache, "compiled")
compile_with(cache, "cached")

# A cache that is no folder, or whose folder is gone.
with open(os.path.join(folder, "file"), "w", encoding="utf-8") as file:
    file.write("")
run = compile_with(os.path.join(folder, "file"), "compiled")
assert "warning" in run.stderr and run.stderr.count("warning") == 1, run
assert "cache: off" in run.stderr, run

# Mounted for this process alone, where that is allowed: read-only, and full.
inside = os.path.join(folder, "mounted")
os.makedirs(inside)


def mounted(options):
    return ["unshare", "-rm", "sh", "-c",
            f'mount -t tmpfs -o {options} none "$0" && exec "$@"', inside]


if shutil.which("unshare") and subprocess.run(
        [*mounted("size=16k"), "true"], stderr=subprocess.DEVNULL).returncode == 0:
    compile_with(inside, "compiled", mounted("ro"))
    compile_with(inside, "compiled", mounted("size=4k"))
    run = compile_with(inside, "compiled", mounted("size=16k"))
    assert "warning" not in run.stderr, run
    # The same for artifacts: whole or not there.
    run = subprocess.run(
        [*mounted("size=8k"), "sh", "-c",
         f'"{program}" compile "{kernels}" -j1 -o "{inside}" && exit 9; ls -A "{inside}"; '
         f'for f in "{inside}"/*; do cmp "$f" "{whole}/${{f##*/}}" || exit 8; done'],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 0, run
    assert "No space left on device" in run.stderr, run
    assert ".furiosa-" not in run.stdout, run
else:
    print("no mounts here: a full disk is not tried")
