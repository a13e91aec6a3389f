"""Runs the action of docs/compile.md in a folder with nothing but the input.

usage: hermetic.py PROGRAM FOLDER
"""

import os
import re
import shutil
import subprocess
import sys

program, folder = sys.argv[1:]
program = os.path.abspath(shutil.which(program))
# In a build folder the loader looks for libraries in the current folder as well.
prefix = os.path.abspath(folder) + ".prefix"
subprocess.run(["cmake", "--install", os.path.dirname(os.path.dirname(program)),
                "--component", "compile", "--prefix", prefix], check=True,
               stdout=subprocess.DEVNULL)
program = os.path.join(prefix, "bin", os.path.basename(program))
action = [program, "compile", "input.mlir", "--exact", "foo", "-o", "output.edf",
          "--no-cache"]
trace = os.path.abspath(folder) + ".trace"
# Options of a sanitizer, if the program was built with one, are no input.
environment = {key: value for key, value in os.environ.items()
               if key in ("ASAN_OPTIONS", "UBSAN_OPTIONS")}
tracer = []
if shutil.which("strace") and subprocess.run(
        ["strace", "-o", os.devnull, "true"], stderr=subprocess.DEVNULL).returncode == 0:
    tracer = [shutil.which("strace"), "-f", "-e", "trace=%file,%network", "-o", trace]
# AddressSanitizer and the tracer do not go together.
if subprocess.run([*tracer, *action], cwd=folder, env=environment, check=not tracer,
                  stdout=subprocess.DEVNULL).returncode != 0:
    tracer = []
    subprocess.run(action, cwd=folder, env=environment, check=True,
                   stdout=subprocess.DEVNULL)
assert sorted(os.listdir(folder)) == ["input.mlir", "output.edf"]
if tracer:
    with open(trace, encoding="utf-8") as file:
        calls = file.read()
    assert "socket(" not in calls and "connect(" not in calls
    # What it opens: the program, what the loader and the C library want, input
    # and output.
    for path in re.findall(r'open(?:at)?\((?:AT_FDCWD, )?"([^"]*)"', calls):
        assert path.startswith(("/lib", "/usr/lib", "/etc/ld.so", "/proc/", "/sys/",
                                "/dev/", program,
                                os.path.dirname(program) + "/../lib/")) or \
            os.path.basename(path) in ("input.mlir", "output.edf") or \
            re.fullmatch(r"\.furiosa-[0-9a-f]{8}\.tmp", path), path
