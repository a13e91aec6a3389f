"""Interrupts runs that wait for somebody: they end at once.

usage: blocked.py PROGRAM RUN KERNEL.mlir FOLDER
"""

import os
import shutil
import signal
import subprocess
import sys
import time

program, run, kernel, folder = sys.argv[1:]
program, run = shutil.which(program), shutil.which(run)
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
pipe = os.path.join(folder, "pipe.mlir")
sink = os.path.join(folder, "sink.edf")
os.mkfifo(pipe)
os.mkfifo(sink)


def is_blocked(process):
    """Whether all threads of a process sleep, in a read or an open."""
    try:
        for task in os.listdir(f"/proc/{process.pid}/task"):
            with open(f"/proc/{process.pid}/task/{task}/stat",
                      encoding="utf-8") as file:
                if file.read().rsplit(")", 1)[1].split()[0] != "S":
                    return False
    except (FileNotFoundError, ProcessLookupError):
        return False
    return True


def interrupt(how, *command, ignored=False):
    handler = signal.SIG_IGN if ignored else signal.SIG_DFL
    with subprocess.Popen(command, stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL,
                          preexec_fn=lambda: signal.signal(how, handler)
                          ) as process:
        # Asleep for a while: it waits for us.
        asleep = 0
        while asleep < 10:
            assert process.poll() is None, command
            asleep = asleep + 1 if is_blocked(process) else 0
            time.sleep(0.01)
        process.send_signal(how)
        if ignored:
            time.sleep(0.2)
            assert process.poll() is None, command
            process.kill()
            return
        try:
            code = process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        assert code == -how, (command, code)


out = os.path.join(folder, "out")
for how in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    interrupt(how, program, "compile", "-", "-o", out, "--no-cache")
    interrupt(how, program, "compile", pipe, "-o", out, "--no-cache")
    interrupt(how, program, "compile", kernel, "-o", sink, "--no-cache")
    interrupt(how, program, "compile", kernel, "-o", out, "--no-cache",
              "--dump-visa", sink)
    interrupt(how, run, pipe)
    interrupt(how, program, pipe, "-o", os.path.join(folder, "copy.mlir"))
    # As under nohup.
    interrupt(how, program, "compile", pipe, "-o", out, ignored=True)
assert sorted(os.listdir(folder)) in (["out", "pipe.mlir", "sink.edf"],
                                      ["pipe.mlir", "sink.edf"])
assert not os.path.exists(out) or os.listdir(out) == ["gemm_i8.edf"]
