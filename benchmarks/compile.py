#!/usr/bin/env python3
"""`compile` on 200 kernels, the examples at several sizes: cold, warm, -j2.

Each round compiles into fresh folders with an empty cache, again with the full
one, and without a cache on one and on two threads; prints medians of wall and
processor seconds and the most memory.
  compile.py BIN [KERNELS] [ROUNDS] [--tensors]
With --tensors the kernels are those of functions of tensors, whose placement is
searched.
"""

import glob
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORPUS = os.path.join(ROOT, "test", "Tools", "compile", "Inputs", "corpus.py")


def measure(command):
    """Wall and processor seconds, MiB, last line of output."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return (time.perf_counter() - begin, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss / 1024, text.splitlines()[-1])


def main():
    flags = [word for word in sys.argv[1:] if word.startswith("--")]
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    program = os.path.join(words[0], "furiosa-opt-mlir")
    kernels = int(words[1]) if len(words) > 1 else 200
    rounds = int(words[2]) if len(words) > 2 else 5
    samples = {}
    with tempfile.TemporaryDirectory() as folder:
        corpus = os.path.join(folder, "corpus")
        subprocess.run([sys.executable, CORPUS, os.path.join(ROOT, "examples"), corpus,
                        str(kernels), *flags], check=True)
        inputs = sorted(glob.glob(os.path.join(corpus, "*.mlir")))
        for number in range(rounds):
            out = os.path.join(folder, f"out{number}")
            cache = ["--cache-dir", os.path.join(folder, f"cache{number}")]
            for name, options, status in (
                    ("cold, -j1", ["-j1", *cache], "compiled"),
                    ("warm, -j1", ["-j1", *cache], "cached"),
                    ("warm, new folder", ["-j1", *cache], "cached"),
                    ("no cache, -j1", ["-j1", "--no-cache"], "compiled"),
                    ("no cache, -j2", ["-j2", "--no-cache"], "compiled")):
                target = out if name != "warm, new folder" else out + "new"
                *figures, line = measure(
                    [program, "compile", *inputs, "-o", target, *options])
                assert f"{kernels} {status}" in line and ", 0 failed" in line, line
                samples.setdefault(name, []).append(figures)
    median = {}
    for name, rows in samples.items():
        median[name] = [statistics.median(column) for column in zip(*rows)]
        print("%-17s %7.3f s wall, %7.3f s of processor, %6.1f MiB"
              % (name, *median[name]))
    print(f"{kernels} kernels, medians of {rounds}: warm is "
          f"{100 * median['warm, -j1'][0] / median['cold, -j1'][0]:.1f} % of cold, "
          f"two threads are {median['no cache, -j1'][0] / median['no cache, -j2'][0]:.2f} "
          "times as fast as one")


if __name__ == "__main__":
    main()
