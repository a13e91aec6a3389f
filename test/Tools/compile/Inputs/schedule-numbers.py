"""Checks what schedules say of loops by numbers of the host.

usage: schedule-numbers.py LOOPS BRANCHES FIXED
"""

import json
import sys

loops, branches, fixed = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])


def counts(schedule):
    """Name, condition, bound, trips of each loop by one number."""
    operands = {o["index"]: o for o in schedule["operands"]}
    found = set()
    for loop in schedule["loops"]:
        count = loop["count"]
        if count is None:
            continue
        for term in count["operands"]:
            assert operands[term["operand"]]["role"] == "input", count
            assert operands[term["operand"]]["size"] == 4, count
        if len(count["operands"]) > 1:
            continue
        operand, scale = count["operands"][0]["operand"], count["operands"][0]["scale"]
        assert scale == 1 and count["plus"] == 0, count
        assert (count["when"] is None) == (count["bound"] is None), count
        found.add((operands[operand]["name"], count["when"], count["bound"],
                   loop["trips"]))
    return found


# corner(%n: 0 to 4, %m: 1 to 3, %k: 0 to 1).
assert counts(loops) == {("arg1", None, None, 4), ("arg2", None, None, 3),
                         ("arg3", None, None, 1)}, counts(loops)
assert fixed["loops"] and not counts(fixed)
conditions = counts(branches)
assert {("arg0", "ge", 1, 1), ("arg0", "lt", 3, 1), ("arg1", "ne", 1, 1),
        ("arg1", None, None, 3)} <= conditions, conditions
assert all(trips == 1 for _, when, _, trips in conditions if when), conditions
