"""Completes words in a real zsh, on a terminal.

usage: zsh.py PROGRAM SOURCES FOLDER
"""

import os
import pty
import select
import shutil
import subprocess
import sys
import time

program, sources, folder = sys.argv[1:]
program = shutil.which(program)
functions = os.path.join(sources, "tools", "furiosa-opt-mlir")
kernels = os.path.join(sources, "test", "Tools", "compile", "Inputs", "kernels.mlir")
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
subprocess.run(["zsh", "-n", os.path.join(functions, "_furiosa-opt-mlir")], check=True)

# What completion offers is written to a file.
with open(os.path.join(folder, ".zshrc"), "w", encoding="utf-8") as file:
    file.write(r"""
PROMPT=
fpath=($FUNCTIONS $fpath)
autoload -U compinit
compinit -u -d $ZDOTDIR/dump
bindkey '^I' complete-word
zstyle ':completion:*' insert-tab false
compadd () {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
    builtin compadd "$@"
    return
  fi
  typeset -a hits
  builtin compadd -A hits "$@"
  (( $#hits )) && print -rl -- $IPREFIX${^hits} >> $HITS
  builtin compadd "$@"
}
finish () { exit }
comppostfuncs=(finish)
print ready
""")


def complete(line):
    hits = os.path.join(folder, "hits")
    with open(hits, "w", encoding="utf-8"):
        pass
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(ZDOTDIR=folder, FUNCTIONS=functions, HITS=hits, TERM="xterm",
                          PATH=os.path.dirname(program) + os.pathsep +
                          os.environ["PATH"])
        os.execvp("zsh", ["zsh", "-d", "-i"])
    output = b""
    is_typed = False
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            output += piece
        if not is_typed and b"ready" in output:
            os.write(terminal, line.encode() + b"\t")
            is_typed = True
    else:
        os.kill(child, 9)
    os.waitpid(child, 0)
    os.close(terminal)
    with open(hits, encoding="utf-8") as file:
        return sorted(set(file.read().split("\n")) - {""})


tool = os.path.basename(program)
assert complete(f"{tool} comp") == ["compile"], complete(f"{tool} comp")
for line, want in (
        ("compile --dump-s", ["--dump-schedule", "--dump-summary"]),
        ("compile --no", ["--no-cache"]),
        ("compile --message-format=s", ["sarif"]),
        ("compile --release=", ["0.2", "0.3", "0.4", "0.5", "0.6"]),
        (f"compile {kernels} foo", ["foo", "foo_bar"]),
        (f"compile {kernels} --exact attention::d", ["attention::decode"]),
        (f"compile {kernels[:-6]}", ["kernels.mlir"]),
        ("explain --mo", ["--mode"]),
        ("explain --mode=", ["carve", "read", "write"])):
    found = [hit.rstrip("=").removeprefix(line.split()[-1].partition("=")[0] + "=")
             for hit in complete(f"{tool} {line}")]
    assert found == want, (line, found)
