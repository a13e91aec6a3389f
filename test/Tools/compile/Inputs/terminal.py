"""Colour and progress go to terminals, and only there.

usage: terminal.py PROGRAM BAD.mlir GOOD.mlir FOLDER
"""

import os
import pty
import shutil
import subprocess
import sys

program, bad, good, folder = sys.argv[1:]
program = shutil.which(program)


def run(source, *flags, terminal=True, **variables):
    env = {**os.environ, "TERM": "xterm-256color", **variables}
    command = [program, "compile", source, "-o", folder, *flags]
    if not terminal:
        return subprocess.run(command, env=env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE).stderr
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL,
                          stderr=theirs):
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
    os.close(ours)
    return text


assert b"\x1b[" in run(bad)
assert b"\x1b" not in run(bad, terminal=False)
assert b"\x1b[" in run(bad, "--color", terminal=False)
assert b"\x1b[0;1;31m" not in run(bad, NO_COLOR="1")
assert b"\x1b[0;1;31m" not in run(bad, TERM="dumb")
assert b"[4/4] attention::prefill" in run(good)
assert run(good, terminal=False) == b""
assert run(good, "--message-format", "json").count(b"[4/4]") == 0
