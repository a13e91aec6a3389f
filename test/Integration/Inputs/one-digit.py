#!/usr/bin/env python3
"""Doubles and halves each number in the stages of a kernel, one at a time.

Each must be refused with one fault, in the line that was changed or, where that
line may stand by itself, in a line behind it. A clause that a message in the
changed line says to write must be the one that was there. A number that does
not divide what it cuts is told apart by MA-8, MA-9 and so on and counts as well.

usage: one-digit.py OPT KERNEL
"""

import re
import subprocess
import sys

lines = open(sys.argv[2], encoding="utf-8").read().splitlines()


def check(changed):
    process = subprocess.run(
        [sys.argv[1], "--visa-check", "-", "-o", "/dev/null"],
        input="\n".join(changed), capture_output=True, text=True)
    return [(int(line.split(":")[1]), line)
            for line in process.stderr.splitlines() if ": error: " in line]


digits = rewrites = 0
assert not check(lines)
for number, line in enumerate(lines, 1):
    stage = re.match(r" +(fetch|collect|to_trf|contract_(outer|time|lane)"
                     r"|commit_trim|commit) ", line)
    if not stage:
        continue
    clauses = line.split(" : ")[0]
    for digit in re.finditer(r"(?<=[/%] )\d+", clauses):
        for value in (int(digit[0]) * 2, int(digit[0]) // 2):
            changed = list(lines)
            changed[number - 1] = (line[:digit.start()] + str(value)
                                   + line[digit.end():])
            faults = check(changed)
            digits += 1
            if len(faults) != 1 or faults[0][0] < number:
                print(f"{len(faults)} faults: {changed[number - 1]}")
            for at, fault in faults:
                advice = re.search(r'; write (\w+ "[^"]*")$', fault)
                if at == number and advice:
                    rewrites += 1
                    if advice[1] not in line:
                        print(f"faults in the advice: {fault}")
print(f"{digits} digits, {rewrites} rewrites")
