"""Prints a disassembly without the N-th of its waits (races.py FILE N)."""

import sys

lines = open(sys.argv[1]).readlines()
waits = [k for k, line in enumerate(lines) if ": wait " in line]
del lines[waits[int(sys.argv[2])]]
sys.stdout.writelines(lines)
