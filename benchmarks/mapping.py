#!/usr/bin/env python3
"""Holds the mapping algebra against the cost of parsing the same text.

  mapping.py BENCHMARKS [REPETITIONS]

BENCHMARKS is the program furiosa-mapping-benchmarks. Each figure is the least
of all repetitions. Fails (exit code 1) where, for mappings of 8 terms,

- canonical form, equivalence, division or the derivation of a sequencer takes
  longer than to parse the mappings that it is given,
- axes 1000 times larger change the time by more than a quarter,

or where four times as many terms take more than their order allows: 4 for the
canonical form and equivalence, 16 for division and sequencers, each with half
as much again for constant parts.
"""

import json
import subprocess
import sys

# Operation, the parsing it is held against, the growth from 10 to 40 terms.
OPERATIONS = [
    ("canonical", "parseCanonical", 4),
    ("equivalence", "parseEquivalence", 4),
    ("equivalenceResolved", "parseEquivalence", 4),
    ("division", "parseDivision", 16),
    ("sequencer", "parseSequencer", 16),
    ("sequencerWrite", "parseSequencer", 16),
]


def measure(program, repetitions):
    """Name of each benchmark -> least CPU time in ns."""
    out = subprocess.run(
        [program, "--benchmark_format=json", "--benchmark_min_time=0.05",
         "--benchmark_enable_random_interleaving=true",
         f"--benchmark_repetitions={repetitions}"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    least = {}
    for run in json.loads(out)["benchmarks"]:
        if run.get("run_type") == "iteration":
            name = run["run_name"]
            least[name] = min(least.get(name, float("inf")), run["cpu_time"])
    return least


def main():
    times = measure(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 9)

    def at(name, terms, scale=1):
        return times[f"{name}/terms:{terms}/scale:{scale}"]

    failed = False
    print("operation            ns   of parsing  axes * 1000  40 / 10 terms")
    for name, parsing, growth in OPERATIONS:
        time = at(name, 8)
        figures = [
            (time / at(parsing, 8), 1.0),
            (at(name, 8, 1000) / time, 1.25),
            (at(name, 40) / at(name, 10), 1.5 * growth),
        ]
        marks = [f"{value:.2f}" + ("" if value <= limit else " !")
                 for value, limit in figures]
        failed |= any(value > limit for value, limit in figures)
        print(f"{name:20} {time:5.0f} {marks[0]:>9} {marks[1]:>12} {marks[2]:>14}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
