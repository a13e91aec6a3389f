"""Compares --help with the man page and the completions, and tries bash's.

usage: help.py PROGRAM SOURCES
"""

import os
import re
import shutil
import subprocess
import sys

program, sources = sys.argv[1:]
program = shutil.which(program)
FLAG = r"-{1,2}[A-Za-z][A-Za-z-]*"
text = subprocess.run([program, "compile", "--help"], check=True, text=True,
                      stdout=subprocess.PIPE).stdout
flags = set(re.findall(rf"^ +({FLAG})(?=[ =]|$)", text, re.M))
ours = flags - {"--help", "--help-list", "--version", "-h", "--color"}
assert {"-o", "-p", "-j", "--MD", "--dump-summary"} <= ours, ours


def read(*parts):
    with open(os.path.join(sources, *parts), encoding="utf-8") as file:
        return file.read()


man = read("docs", "furiosa-opt-mlir-compile.1").replace(r"\-", "-")
bash = read("tools", "furiosa-opt-mlir", "completion.bash")
zsh = read("tools", "furiosa-opt-mlir", "_furiosa-opt-mlir")
for flag in ours:
    for name, page in ("man", man), ("bash", bash), ("zsh", zsh):
        assert re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", page), (name, flag)
# And none that there is not.
for flag in re.findall(rf"^\.BI? \"?({FLAG})", man, re.M):
    assert flag in flags | {"--color"}, flag
for flag in re.findall(rf"^    '({FLAG})\[", zsh, re.M):
    assert flag in flags | {"--color", "--help"}, flag

if shutil.which("groff"):
    run = subprocess.run(["groff", "-man", "-ww", "-Tutf8",
                          os.path.join(sources, "docs",
                                       "furiosa-opt-mlir-compile.1")],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert run.stderr == "", run.stderr
if shutil.which("zsh"):
    subprocess.run(["zsh", "-n", os.path.join(sources, "tools", "furiosa-opt-mlir",
                                              "_furiosa-opt-mlir")], check=True)


def complete(*words):
    script = f"""
source {sources}/tools/furiosa-opt-mlir/completion.bash
COMP_WORDS=({" ".join(map(repr, words))})
COMP_CWORD={len(words) - 1}
_furiosa_opt_mlir
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    return subprocess.run(["bash", "--norc", "-c", script], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.split("\n")[:-1]


if shutil.which("bash"):
    kernels = os.path.join(sources, "test", "Tools", "compile", "Inputs",
                           "kernels.mlir")
    assert complete(program, "com") == ["compile"]
    assert complete(program, "compile", "--dump-s") == ["--dump-schedule",
                                                        "--dump-summary"]
    assert complete(program, "compile", "--message-format", "s") == ["sarif"]
    assert complete(program, "compile", kernels, "foo") == ["foo", "foo_bar"]
    assert complete(program, "compile", kernels, "attention::d") == \
        ["attention::decode"]
    assert kernels in complete(program, "compile", kernels[:-6])
