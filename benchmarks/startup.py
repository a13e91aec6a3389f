#!/usr/bin/env python3
"""Start-up of furiosa-opt-mlir on an empty module, against mlir-opt.

Runs the two in turn and prints the median of each and of the ratio.
  startup.py BIN [RUNS]
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main():
    bin_dir = sys.argv[1]
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    with tempfile.TemporaryDirectory() as folder:
        empty = os.path.join(folder, "empty.mlir")
        with open(empty, "w", encoding="utf-8") as file:
            file.write("module {}\n")
        ours, theirs = [], []
        for _ in range(runs):
            ours.append(seconds([os.path.join(bin_dir, "furiosa-opt-mlir"), empty]))
            theirs.append(seconds(["/usr/lib/llvm-22/bin/mlir-opt", empty]))
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    print(f"furiosa-opt-mlir {statistics.median(ours) * 1e3:.1f} ms, "
          f"mlir-opt {statistics.median(theirs) * 1e3:.1f} ms, ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
