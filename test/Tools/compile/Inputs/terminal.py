"""Colour and progress go to terminals, and only there.

usage: terminal.py PROGRAM BAD.mlir GOOD.mlir FOLDER
"""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios

program, bad, good, folder = sys.argv[1:]
program = shutil.which(program)


def run(source, *flags, terminal=True, table=False, columns=0, **variables):
    env = {**os.environ, "TERM": "xterm-256color", **variables}
    command = [program, "compile", source, "-o", folder, *flags]
    if not terminal:
        return subprocess.run(command, env=env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE).stderr
    ours, theirs = pty.openpty()
    if columns:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(command, env=env, stderr=theirs,
                          stdout=theirs if table else subprocess.DEVNULL):
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


RED = b"\x1b[0;1;31m"
# The word of the diagnostic, and the table's if that is on the terminal, too.
assert RED + b"error: " in run(bad)
assert RED + b"failed" in run(bad, table=True)
assert b"\x1b[0;1;32mcompiled" in run(bad, table=True)
# What is said before there is a file.
assert RED + b"error: " in run("no-file")
assert b"note: " in run("no-file")
assert RED + b"error: " in run(folder + "/none.mlir")
assert b"\x1b" not in run(bad, terminal=False)
assert b"\x1b[" in run(bad, "--color", terminal=False)
for source in bad, "no-file", folder + "/none.mlir":
    for text in (run(source, table=True, NO_COLOR="1"),
                 run(source, "--message-format", "json", table=True),
                 run(source, "--message-format", "sarif", table=True)):
        # Progress is no colour, and is for humans.
        assert source == "no-file" or \
            not re.search(rb"\x1b\[[0-9;]*m", text), text
    assert not re.search(rb"\x1b\[[0-9;]*m", run(source, NO_COLOR="1"))
    assert b"\x1b" not in run(source, table=True, TERM="dumb")
assert b"[4/4] attention::prefill" in run(good)
# A line that is taken back must be one line.
pieces = run(good, columns=13).split(b"\r\x1b[K")
assert b"[4/4] attent" in pieces and max(map(len, pieces)) == 12, pieces
assert run(good, terminal=False) == b""
assert run(good, "--message-format", "json").count(b"[4/4]") == 0
