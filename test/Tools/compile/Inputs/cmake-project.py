"""Builds the example project against an installed copy.

usage: cmake-project.py PROGRAM PROJECT FOLDER
"""

import os
import shutil
import subprocess
import sys

program, project, folder = sys.argv[1:]
program = os.path.abspath(shutil.which(program))
build = os.path.dirname(os.path.dirname(program))
prefix = os.path.join(folder, "prefix with blank")


def run(*command, **options):
    result = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, **options)
    assert result.returncode == 0, (command, result.stdout)
    return result.stdout


def read(*parts):
    with open(os.path.join(*parts), "rb") as file:
        return file.read()


run("cmake", "--install", build, "--component", "compile", "--prefix", prefix)
for path in ("bin/furiosa-opt-mlir", "share/man/man1/furiosa-opt-mlir-compile.1",
             "share/man/man1/furiosa-opt-mlir-explain.1",
             "share/bash-completion/completions/furiosa-opt-mlir",
             "share/zsh/site-functions/_furiosa-opt-mlir"):
    assert os.path.exists(os.path.join(prefix, path)), path

# What the bytes are to be.
run(program, "compile", os.path.join(project, "model.mlir"), "-o",
    os.path.join(folder, "whole"))
run(program, "compile", os.path.join(project, "model.mlir"), "-o",
    os.path.join(folder, "whole"), "vector::scale", "--release", "0.5")
want_add = read(folder, "whole", "vector::add.edf")
want_scale = read(folder, "whole", "vector::scale.edf")

environment = {**os.environ, "FURIOSA_OPT_CACHE_DIR": ""}
environment.pop("MAKEFLAGS", None)
generators = [("Ninja", "ninja"), ("Unix Makefiles", "make")]
for generator, needs in generators:
    if shutil.which(needs) is None:
        continue
    # The generator before may have left it with a time to come.
    os.utime(os.path.join(prefix, "bin", "furiosa-opt-mlir"))
    source = os.path.join(folder, "source of " + needs)
    shutil.copytree(project, source)
    binary = os.path.join(folder, "build of " + needs)
    run("cmake", "-G", generator, "-S", source, "-B", binary, "-D",
        "CMAKE_PREFIX_PATH=" + prefix, env=environment)

    def make():
        return run("cmake", "--build", binary, env=environment)

    def make_newer(path):
        later = os.stat(os.path.join(binary, "add.edf")).st_mtime + 2
        os.utime(path, (later, later))

    text = make()
    assert "Compiling kernel vector::add" in text, text
    # A kernel that compiles says nothing more.
    assert "makespan" not in text, text
    assert read(binary, "add.edf") == want_add
    assert read(binary, "scale.edf") == want_scale
    app = os.path.join(binary, "app")
    embedded = subprocess.run([app], check=True, stdout=subprocess.PIPE).stdout
    assert embedded == want_add
    # Nothing has changed: nothing is done.
    assert "Compiling kernel" not in make()
    # The source has.
    model = os.path.join(source, "model.mlir")
    with open(model, encoding="utf-8") as file:
        changed = file.read().replace("[imm 1]", "[imm 2]")
    with open(model, "w", encoding="utf-8") as file:
        file.write(changed)
    make_newer(model)
    assert "Compiling kernel vector::add" in make()
    embedded = subprocess.run([app], check=True, stdout=subprocess.PIPE).stdout
    assert embedded == read(binary, "add.edf") != want_add
    # The compiler has.
    compiler = os.path.join(prefix, "bin", "furiosa-opt-mlir")
    make_newer(compiler)
    assert "Compiling kernel vector::add" in make()
    # A kernel with a fault fails the build, with its message.
    with open(model, "w", encoding="utf-8") as file:
        file.write(changed.replace('commit_trim packet "A % 8"',
                                   'commit_trim packet "A % 4"'))
    make_newer(model)
    failed = subprocess.run(["cmake", "--build", binary], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert failed.returncode != 0
    assert "model.mlir:" in failed.stdout and "error:" in failed.stdout
    with open(model, "w", encoding="utf-8") as file:
        file.write(changed)
    make_newer(model)
    make()
    where = os.path.join(folder, "installed by " + needs)
    run("cmake", "--install", binary, "--prefix", where)
    assert os.path.exists(os.path.join(where, "share", "kernels", "scale.edf"))

# Arguments that make no sense stop the configuration.
bad = os.path.join(folder, "bad")
os.makedirs(bad)
for arguments, message in (
        ("gemm", "SOURCE is missing"),
        ("gemm SOURCE a.mlir FOO", "unknown arguments: FOO"),
        ("gemm SOURCE a.mlir OUTPUT a.bin", "does not end in .edf")):
    with open(os.path.join(bad, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write("cmake_minimum_required(VERSION 3.21)\nproject(p NONE)\n"
                   "find_package(FuriosaMLIR REQUIRED)\n"
                   f"furiosa_add_kernel({arguments})\n")
    result = subprocess.run(
        ["cmake", "-S", bad, "-B", os.path.join(bad, "build"), "-D",
         "CMAKE_PREFIX_PATH=" + prefix], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    assert result.returncode != 0 and message in result.stdout, result.stdout
