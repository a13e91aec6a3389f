"""Has make say what it understands of a depfile: the target must be remade when,
and only when, the input is newer.

usage: read-depfile.py DEPFILE TARGET INPUT
"""

import os
import shutil
import subprocess
import sys

depfile, target, source = sys.argv[1:]
if shutil.which("make") is None:
    sys.exit(0)


def is_new(newer):
    now = os.stat(target).st_mtime
    os.utime(source, (now + newer, now + newer))
    escaped = target.replace(":", r"\:")
    makefile = f"include {depfile}\n{escaped}:\n\t@echo remade\n"
    out = subprocess.run(["make", "-rRf", "-", target], input=makefile, text=True,
                         capture_output=True, check=True)
    return "remade" not in out.stdout


assert is_new(-10)
assert not is_new(+10)
