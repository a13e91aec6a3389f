#!/usr/bin/env python3
"""Checks the tables of docs/rules.md against the tests.

A rule is enforced if its number stands inside an expected-error of a lit test
that runs with -verify-diagnostics: such a test fails unless the error fires.
Level, op and test of an enforced rule are generated; of any other rule the
last column says why it is no error ("no error: ..."), or that it is not
checked yet ("open: ...").

usage: rules.py [--update]
"""

import argparse
import os
import re
import sys

from tables import ROOT, Table

# How many numbers each group has.
GROUPS = {"MA": 32, "MM": 54, "TU": 80, "VE": 71}
LEVELS = {"TensorMapping": "parser", "VISA": "visa", "LIR": "lir",
          "Resource": "resource", "VISAToLIR": "visa",
          "LIRToResource": "resource"}
RULE = re.compile(r"\b(MA|MM|TU|VE)-(\d+)\b")
ROW = re.compile(r"\| ((?:MA|MM|TU|VE)-\d+) \| (.*) \| (.*) \| (.*) \| (.*) \|")
ERROR = re.compile(r"expected-error(-re)?\s*(@[^{\s]*)?[^{]*\{\{(.*?)\}\}(?!\})")


def op_at(lines, index, where):
    """The op that an expected-error on line `index` points at."""
    if where and re.fullmatch(r"@[+-]\d+", where):
        index += int(where[1:])
    elif where == "@above":
        index -= 1
    else:
        # Comments in a row speak of the same line.
        while index < len(lines) and lines[index].lstrip().startswith("//"):
            index += 1
    if not 0 <= index < len(lines):
        return None
    text = re.sub(r"^.*?=\s(?=[a-z])", "", lines[index].strip())
    text = re.sub(r"^\(?\"?(visa|lir|resource|tmap)\.", "", text)
    match = re.match(r"[a-z]\w*", text)
    if re.match(r"(#\w+ = )?#|!|func|module|//|\"", lines[index].strip()):
        return "types"
    return match.group(0) if match else None


def collect():
    """Rule -> list of (test, level, op) whose error fires."""
    found = {}
    for folder, folders, files in os.walk(os.path.join(ROOT, "test")):
        folders.sort()
        for name in sorted(files):
            if not name.endswith(".mlir"):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if not re.search(r"RUN:(?:.*\\\n// RUN:)*.*-verify-diagnostics",
                             text):
                continue
            short = os.path.relpath(path, os.path.join(ROOT, "test"))
            level = LEVELS.get(os.path.basename(folder), "visa")
            lines = text.splitlines()
            for index, line in enumerate(lines):
                for match in ERROR.finditer(line):
                    op = op_at(lines, index, match.group(2)) or "types"
                    for rule in RULE.finditer(match.group(3)):
                        found.setdefault(rule.group(0), []).append(
                            (short, level, op))
    # The level closest to the user first.
    order = ["visa", "parser", "lir", "resource"]
    return {rule: sorted(places, key=lambda p: (order.index(p[1]), p[0]))
            for rule, places in found.items()}


def generate(rule, cells, places):
    """The row of a rule with its generated cells, or a complaint."""
    condition, level, op, last = cells
    if places:
        level = ", ".join(dict.fromkeys(place[1] for place in places))
        ops = sorted({f"`{place[2]}`" for place in places
                      if place[2] != "types"}) or ["types"]
        op = ", ".join(ops[:3])
        last = places[0][0]
    elif not re.match(r"(no error|open): \S", last):
        return None, (f"{rule}: no expected-error with its number fires; say "
                      "\"no error: ...\" or \"open: ...\"")
    else:
        level = op = "-"
    return f"| {rule} | {condition} | {level} | {op} | {last} |", None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--update", action="store_true",
                        help="write the generated columns")
    options = parser.parse_args()
    found = collect()
    table = Table("rules.md", ROW)
    faults, seen = [], []
    for index, (rule, *cells) in table.rows():
        seen.append(rule)
        row, fault = generate(rule, cells, found.get(rule))
        if fault:
            faults.append(fault)
        else:
            table.put(index, row)
    wanted = [f"{group}-{number}" for group, count in GROUPS.items()
              for number in range(1, count + 1)]
    if seen != wanted:
        for rule in sorted(set(wanted) ^ set(seen)):
            faults.append(f"{rule}: " + ("no row" if rule in wanted
                                         else "no such rule"))
        if sorted(seen) == sorted(wanted):
            faults.append("the rows are not in the order of their numbers")
    faults += [f"{rule}: no such rule, named by {places[0][0]}"
               for rule, places in sorted(found.items()) if rule not in wanted]
    failed = table.finish(faults, options.update)
    for group, count in GROUPS.items():
        fired = sum(1 for rule in found if rule.startswith(group + "-"))
        print(f"{group}: {fired} of {count} rules fire in tests")
    sys.exit(failed)


if __name__ == "__main__":
    main()
