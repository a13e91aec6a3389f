"""Compares --help with the man pages and the completions, and tries bash's.

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
GENERIC = {"--help", "--help-list", "--version"}


def read_flags(command):
    text = subprocess.run([program, command, "--help"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    # Deeper lines are continued descriptions and values.
    return set(re.findall(rf"^  ({FLAG})(?=[ =]|$)", text, re.M))


def read(*parts):
    with open(os.path.join(sources, *parts), encoding="utf-8") as file:
        return file.read()


def find_flags(page):
    return set(re.findall(rf"(?<![\w-])({FLAG})(?![\w-])", page))


def complete(*words):
    script = f"""
source {sources}/tools/furiosa-opt-mlir/completion.bash
COMP_WORDS=({" ".join(map(repr, words))})
COMP_CWORD={len(words) - 1}
_furiosa_opt_mlir
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    lines = subprocess.run(["bash", "--norc", "-c", script], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split("\n")
    return [line for line in lines if line]


# In zsh what is said of one command stands in one call.
zsh = read("tools", "furiosa-opt-mlir", "_furiosa-opt-mlir")
zsh_explain, zsh_compile = re.findall(r"_arguments(?:.*\\\n)*.*", zsh)

for command, zsh_part, some in (
        ("compile", zsh_compile, {"-o", "-p", "-j", "--MD", "--dump-summary"}),
        ("explain", zsh_explain, {"--axes", "--mode", "--color"})):
    flags = read_flags(command)
    assert some | GENERIC <= flags, flags
    name = f"furiosa-opt-mlir-{command}.1"
    man = read("docs", name).replace(r"\-", "-")
    headings = "\n".join(re.findall(
        r"^\.TP\n(.*)", man.split(".SH OPTIONS")[1].split(".SH ")[0], re.M))
    # All that there are, and none that there is not.
    assert find_flags(headings) == flags - GENERIC, find_flags(headings) ^ flags
    bare = re.sub(r"\[.*", "", zsh_part).replace("-p+", "-p")
    assert find_flags(bare) == flags, find_flags(bare) ^ flags
    if shutil.which("bash"):
        assert set(complete(program, command, "-")) == flags
    if shutil.which("groff"):
        run = subprocess.run(
            ["groff", "-man", "-ww", "-Tutf8", os.path.join(sources, "docs", name)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert run.stderr == "", run.stderr

# One version.
version = re.search(r"project\(furiosa-opt-mlir VERSION ([0-9.]+)",
                    read("CMakeLists.txt")).group(1)
for words in [program], [program, "compile"], [program, "explain"]:
    text = subprocess.run([*words, "--version"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    assert text.startswith(f"furiosa-opt-mlir {version} (LLVM "), text
for command in "compile", "explain":
    assert f'"furiosa-opt-mlir {version}"' in read(
        "docs", f"furiosa-opt-mlir-{command}.1").splitlines()[0]
text = subprocess.run([program, "--help"], check=True, text=True,
                      stdout=subprocess.PIPE).stdout
assert "compile FILE... [FILTER]..." in text and "explain MAPPING" in text

if shutil.which("bash"):
    kernels = os.path.join(sources, "test", "Tools", "compile", "Inputs",
                           "kernels.mlir")
    assert complete(program, "com") == ["compile"]
    assert complete(program, "exp") == ["explain"]
    assert complete(program, "explain", "--mode", "") == ["read", "write", "carve"]
    assert complete(program, "compile", "--dump-s") == ["--dump-schedule",
                                                        "--dump-summary"]
    assert complete(program, "compile", "--message-format", "s") == ["sarif"]
    assert complete(program, "compile", "--message-format", "=", "j") == ["json"]
    assert complete(program, "compile", kernels, "foo") == ["foo", "foo_bar"]
    assert complete(program, "compile", kernels, "attention::d") == \
        ["attention::decode"]
    assert kernels in complete(program, "compile", kernels[:-6])
