#!/usr/bin/env python3
"""Checks the table of docs/tensor-unit-rows.md against the tests.

Every row has a test that says its number, and the last column names the files
of these tests: in the name of a unit test (Row14TwoFlits, Rows6And14…), of a
kernel in a lit test (@row41), in the list of kernels that must be refused
("row 16), or in a comment of a lit test at its expected-error ((row 35)). A row
that is refused names the rule, which must stand in one of these files.

usage: rows.py [--update]
"""

import argparse
import os
import re
import sys

from tables import ROOT, Table

ROWS = 70
ROW = re.compile(r"\| (\d+) \| (.*) \| (.*) \| (.*) \|(.*)\|")
NAMES = {".cpp": [re.compile(r"\bRows?(\d+(?:And\d+)*)"),
                  re.compile(r"\"row (\d+)\b")],
         ".mlir": [re.compile(r"func @row(\d+)\b"),
                   re.compile(r"\(row (\d+)\b")]}


def collect():
    """Row -> paths of the tests that name it, and path -> text."""
    found, texts = {}, {}
    for top in ("test", "unittests"):
        for folder, folders, files in os.walk(os.path.join(ROOT, top)):
            folders.sort()
            for name in sorted(files):
                patterns = NAMES.get(os.path.splitext(name)[1])
                if not patterns:
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                short = os.path.relpath(path, ROOT).replace(os.sep, "/")
                for pattern in patterns:
                    for match in pattern.finditer(text):
                        for number in match.group(1).split("And"):
                            places = found.setdefault(int(number), [])
                            if short not in places:
                                places.append(short)
                            texts[short] = text
    return found, texts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    found, texts = collect()
    table = Table("tensor-unit-rows.md", ROW)
    faults, seen = [], []
    for index, (number, stage, case, expected, _) in table.rows():
        seen.append(int(number))
        places = sorted(found.get(int(number), []))
        if not places:
            faults.append(f"row {number}: no test names it")
        for rule in re.findall(r"TU-\d+", expected):
            if not any(re.search(rf"{rule}\b", texts[place])
                       for place in places):
                faults.append(f"row {number}: no test of it names {rule}")
        tests = ", ".join(f"`{os.path.basename(place)}`" for place in places)
        table.put(index,
                  f"| {number} | {stage} | {case} | {expected} | {tests} |")
    if seen != list(range(1, ROWS + 1)):
        faults.append(f"the rows are not 1 to {ROWS}, in this order")
    faults += [f"row {number}: no such row, named by {places[0]}"
               for number, places in sorted(found.items()) if number > ROWS]
    failed = table.finish(faults, options.update)
    print(f"{len(seen)} rows, {sum(1 for row in seen if row in found)} tested")
    sys.exit(failed)


if __name__ == "__main__":
    main()
