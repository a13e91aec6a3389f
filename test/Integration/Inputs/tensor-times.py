#!/usr/bin/env python3
"""Processor time that each example of tensor functions takes to compile.

usage: tensor-times.py FOLDER [SECONDS]

Compiles each FOLDER/tmap_*.mlir; fails where one takes more than SECONDS (1) of
user and system time. A build with assertions takes some 0.3 s for the slowest.
"""

import pathlib
import resource
import subprocess
import sys
import tempfile


def get_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    limit = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    examples = sorted(pathlib.Path(sys.argv[1]).glob("tmap_*.mlir"))
    late = []
    with tempfile.TemporaryDirectory() as folder:
        for example in examples:
            before = get_time()
            subprocess.run(["furiosa-opt-mlir", "compile", str(example), "-o",
                            f"{folder}/kernel.edf"], check=True,
                           stdout=subprocess.DEVNULL)
            taken = get_time() - before
            print(f"{example.name}: {taken:.2f} s")
            if taken > limit:
                late.append(example.name)
    print(f"{len(examples)} examples")
    sys.exit(f"more than {limit} s: {', '.join(late)}" if late else 0)


if __name__ == "__main__":
    main()
