"""Mistakes of many kinds: inputs, names, flags, outputs.

usage: strange.py PROGRAM KERNEL.mlir FOLDER
"""

import os
import shutil
import subprocess
import sys

program, kernel, folder = sys.argv[1:]
program = shutil.which(program)
os.chdir(folder)
shutil.copy(kernel, "k.mlir")
with open("k.mlir", "rb") as file:
    source = file.read()


def run(*arguments, **options):
    return subprocess.run([program, "compile", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **options)


def refuses(message, *arguments, **options):
    """The run ends with an error that holds `message`, and writes nothing."""
    result = run(*arguments, "-o", "refused", **options)
    assert result.returncode == 1, result
    assert message.encode() in result.stderr, result
    assert not os.path.isdir("refused") or os.listdir("refused") == [], result


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)
    return name


def wrap(name):
    """A kernel of that name, as bytes of a string in the text."""
    return b"func.func @\"" + name + b"\"() attributes {visa.kernel} { return }\n"


# Inputs that are none.
os.mkdir("folder.mlir")
refuses("folder.mlir': Is a directory", "folder.mlir")
refuses("none.mlir': No such file", "none.mlir")
os.symlink("loop.mlir", "loop.mlir")
refuses("loop.mlir': ", "loop.mlir")
for name in "empty.mlir", "empty.mlirbc":
    refuses("no kernel", write(name, b""))
refuses("no kernel", "-", input=b"")
refuses("error", write("zeros.mlir", b"\0" * 64))
refuses("error", write("junk.mlir", bytes(range(256)) * 4))
refuses("error", write("half.mlir", source[:len(source) // 2]))
refuses("no input", "k.ml")
# A bare module, a kernel in what is no module.
refuses("no kernel", write("bare.mlir", b"func.func @f() { return }"))

# Bytecode that is cut off or damaged.
bytecode = subprocess.run([program, "k.mlir",
                           "--emit-bytecode", "-o", "-"], check=True,
                          stdout=subprocess.PIPE).stdout
result = run("-", "-o", "whole", input=bytecode)
assert result.returncode == 0, result
for length in [*range(0, 64, 3), *range(64, len(bytecode), 61)]:
    refuses("error", write("cut.mlirbc", bytecode[:length]))
for place in range(4, len(bytecode), 23):
    damaged = bytearray(bytecode)
    damaged[place] ^= 0x55
    result = run(write("damaged.mlirbc", bytes(damaged)), "-o", "damaged")
    # Some damage is to a name or a location.
    assert result.returncode in (0, 1), (place, result)
    assert result.returncode == 0 or b"error" in result.stderr, (place, result)

# Names of kernels that are no file names.
for name in b"", b"../up", b"/etc/up", b".hidden", b"a/b", b"a\\00b":
    refuses("the kernel's name is no file name", write("name.mlir", wrap(name)))
# Those that are, and what becomes of them.
names = [b"a b", b"-o", b"k\\FE", b"k\\0Ay", b"\xc3\xa9\xe2\x82\xac", b"a'b", b"a$(x)b", b"*",
         b"%s%n", b"a\\\\b", b"k\\C2\\9B31m"]
result = run(write("names.mlir", b"".join(map(wrap, names))), "-o", "named",
             env={**os.environ, "LC_ALL": "C"})
assert result.returncode == 0, result
assert sorted(os.listdir(b"named")) == sorted(
    name + b".edf" for name in (
        b"a b", b"-o", b"k\xfe", b"k\ny", b"\xc3\xa9\xe2\x82\xac", b"a'b", b"a$(x)b", b"*", b"%s%n",
        b"a\\b", b"k\xc2\x9b31m"))
# A line each, and nothing that a terminal would obey.
assert len(result.stdout.splitlines()) == len(names) + 1, result
assert rb"k\x0Ay" in result.stdout and rb"k\xC2\x9B31m" in result.stdout, result
assert "\u20ac".encode() in result.stdout
# A name with a line break is in no depfile.
for flags in (["--MD"], ["--MF", "all.d"]):
    refuses("a depfile cannot name a path with a line break",
            write("line.mlir", wrap(b"k\\0Ay")), *flags)
assert not os.path.exists("all.d")

# Files whose names are strange, also in messages.
strange = write(b"-x \x1b\xff\n'.mlir", b"func.func @f(")
result = run(b"./" + strange, "-o", "refused")
assert result.returncode == 1 and rb"-x \x1B\xFF\x0A'.mlir:1:" in result.stderr, result
assert b"\x1b" not in result.stderr + result.stdout, result
os.rename(write("good.mlir", source), b"-x \x1b\xff\n'.mlir")
result = run(b"./" + strange, "-o", "strange")
assert result.returncode == 0, result
# Lines with tabs, wide characters and escapes keep their caret.
result = run(write("wide.mlir", "// é\n\t\"\x1b[31m日本\" func.func\n".encode()), "-o",
             "refused")
head, line, caret = result.stderr.decode().split("\n")[:3]
assert head.startswith("wide.mlir:2:16: error: "), result
assert line == " " * 8 + '"\\x1B[31m日本" func.func', result
# The escape is four columns, each of the two characters two.
assert caret == " " * (8 + len('"\\x1B[31m') + 2 * 2 + len('" ')) + "^", result
# Of a line of a megabyte not much is shown.
result = run(write("long.mlir", b"module {" + b" " * 500000 + b"!" + b" " * 500000),
             "-o", "refused")
assert result.returncode == 1 and len(result.stderr) < 1000, len(result.stderr)
assert b"..." in result.stderr and b"\n" in result.stderr
line, caret = result.stderr.decode().split("\n")[1:3]
assert line[caret.index("^")] == "!", (line, caret)

# Flags.
for flag in "-j-1", "-jx", "-j", "-j99999999999":
    refuses("", "k.mlir", flag)
for flag in "--exact=maybe", "--message-format=xml", "--exakt", "--dump", "--cache-limit=-1":
    refuses("", "k.mlir", flag)
# One value is given once; to say a flag again changes nothing.
for flag, one, other in ("-o", "a", "b"), ("--release", "0.5", "0.6"), ("-j", "1", "2"):
    refuses(f"{flag} may only occur zero or one times", "k.mlir", flag, one, flag, other)
result = run("k.mlir", "-o", "b", "--exact", "--exact")
assert result.returncode == 0 and os.listdir("b") == ["constant_add.edf"], result
assert not os.path.exists("a")
for flag in ("--MF", "--cache-dir", "--dump-visa", "--dump-dfg", "--dump-ir",
             "--dump-graph", "--dump-schedule", "--dump-trace", "--dump-summary"):
    refuses(f"{flag} needs a path", "k.mlir", flag + "=")
refuses("no kernel is in package ''", "k.mlir", "-p", "")
for jobs in "-j0", "-j1", "-j99999":
    result = run("k.mlir", "names.mlir", jobs, "-o", "jobs")
    assert result.returncode == 0, result

# Outputs that cannot be.
os.makedirs("taken/constant_add.edf")
result = run("k.mlir", "-o", "taken")
assert result.returncode == 1 and b"constant_add.edf': Is a directory" in result.stderr, result
assert os.listdir("taken") == ["constant_add.edf"]
os.makedirs("dir.edf")
assert run("k.mlir", "-o", "dir.edf").returncode == 0
assert os.listdir("dir.edf") == ["constant_add.edf"]
for flag in "--MF", "--dump-visa", "--dump-schedule":
    result = run("k.mlir", "-o", "out", flag, "folder.mlir")
    assert result.returncode == 1 and b"folder.mlir': Is a directory" in result.stderr, result
    result = run("k.mlir", "-o", "out", flag, "none/deep/file")
    assert result.returncode == 1 and b"No such file" in result.stderr, result
for target in "k.mlir", "k.mlir/sub", "/proc/none/x":
    result = run("k.mlir", "-o", "out", "--dump-summary", target)
    assert result.returncode == 1 and b"cannot make folder" in result.stderr, result
    result = run("k.mlir", "-o", target)
    assert result.returncode == 1 and b"cannot make folder" in result.stderr, result
assert not [name for _, _, files in os.walk(".") for name in files
            if name.startswith(".furiosa-")]
