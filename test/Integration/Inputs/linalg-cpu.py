#!/usr/bin/env python3
"""linalg on the CPU and as kernels of the chip.

usage: linalg-cpu.py FILE.mlir FOLDER

Each function of the file is run by MLIR's own CPU pipeline (mlir-opt,
mlir-runner) and, after convert-linalg-to-tmap, by furiosa-run --check, on the
same arguments. Results are equal to the last bit, but for functions whose name
is in TOLERANCE: relative, for functions of the vector engine. Prints a line per
function; exit status 0 if and only if all agree.
"""

import os
import re
import shutil
import struct
import subprocess
import sys

# exp is off by one unit in the last place in either library, and so is the sum.
TOLERANCE = {"softmax": 1e-6}

CPU_PASSES = [
    "--convert-elementwise-to-linalg",
    "--one-shot-bufferize=bufferize-function-boundaries=1",
    "--convert-linalg-to-loops", "--fold-memref-alias-ops",
    "--expand-strided-metadata", "--lower-affine", "--convert-scf-to-cf",
    "--arith-expand=include-bf16=1", "--convert-math-to-libm",
    "--convert-math-to-llvm", "--convert-arith-to-llvm",
    "--finalize-memref-to-llvm", "--convert-func-to-llvm",
    "--convert-cf-to-llvm", "--reconcile-unrealized-casts"]


def run(*command, text=None):
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stderr}")
    return done.stdout


def parse_type(text):
    *shape, element = re.fullmatch(r"tensor<(.*)>", text).group(1).split("x")
    return [int(size) for size in shape], element


def numbers(seed, count, element):
    """Numbers whose sums and products are exact."""
    state, result = seed * 0x9E3779B97F4A7C15 % 2**64 + 1, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        value = (state >> 33) % 33 - 16
        if element.startswith("i"):
            value = ((state >> 33) % (200 if element == "i8" else 20000)
                     - (100 if element == "i8" else 10000))
            result.append(value)
        else:
            result.append(value / 4)
    return result


def write_npy(path, shape, element, values):
    code, kind = {"i8": ("b", "|i1"), "i16": ("h", "<i2"), "i32": ("i", "<i4"),
                  "bf16": ("f", "<f4"), "f32": ("f", "<f4")}[element]
    header = (f"{{'descr': '{kind}', 'fortran_order': False, "
              f"'shape': ({', '.join(map(str, shape))},), }}")
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                   header.encode() + struct.pack(f"<{len(values)}{code}",
                                                 *values))


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    length, = struct.unpack_from("<H", data, 8)
    kind = re.search(r"'descr': '(.*?)'",
                     data[10:10 + length].decode()).group(1)
    code = {"|i1": "b", "<i2": "h", "<i4": "i", "<f4": "f"}[kind]
    body = data[10 + length:]
    return list(struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}",
                              body))


def literal(shape, values):
    """A dense literal of nested lists."""
    if not shape:
        return repr(values[0])
    step = len(values) // shape[0]
    return "[" + ", ".join(literal(shape[1:], values[i * step:(i + 1) * step])
                           for i in range(shape[0])) + "]"


def run_on_cpu(text, name, arguments, results):
    """Lists of numbers, one a result."""
    main = ["func.func private @printMemrefI32(%m: tensor<*xi32>)",
            "func.func @main() {"]
    for i, ((shape, element), type_text, values) in enumerate(arguments):
        main.append(f"  %a{i} = arith.constant dense<{literal(shape, values)}>"
                    f" : {type_text}")
    operands = ", ".join(f"%a{i}" for i in range(len(arguments)))
    types = ", ".join(argument[1] for argument in arguments)
    main.append(f"  %r:{len(results)} = call @{name}({operands}) : ({types}) "
                f"-> ({', '.join(results)})")
    for i, result in enumerate(results):
        shape, element = parse_type(result)
        dims = "".join(f"{size}x" for size in shape)
        value, bits = f"%r#{i}", {"bf16": "i16", "f32": "i32"}.get(element)
        if bits:
            main.append(f"  %b{i} = arith.bitcast {value} : {result} to "
                        f"tensor<{dims}{bits}>")
            value, element = f"%b{i}", bits
        if element != "i32":
            main.append(f"  %w{i} = arith.extsi {value} : "
                        f"tensor<{dims}{element}> to tensor<{dims}i32>")
            value = f"%w{i}"
        main.append(f"  %u{i} = tensor.cast {value} : tensor<{dims}i32> to "
                    "tensor<*xi32>")
        main.append(f"  call @printMemrefI32(%u{i}) : (tensor<*xi32>) -> ()")
    main += ["  return", "}"]
    lowered = run("mlir-opt", *CPU_PASSES, text=text + "\n".join(main))
    runner = os.path.realpath(shutil.which("mlir-runner"))
    folder = os.path.join(os.path.dirname(os.path.dirname(runner)), "lib")
    libraries = ",".join(os.path.join(folder, f"libmlir_{name}.so")
                         for name in ("runner_utils", "c_runner_utils"))
    printed = run("mlir-runner", "-e", "main", "--entry-point-result=void",
                  f"--shared-libs={libraries}", text=lowered)
    values = []
    for result, part in zip(results, printed.split("data =")[1:]):
        element = parse_type(result)[1]
        body = part.split("Unranked Memref")[0]
        codes = [int(code) for code in re.findall(r"-?\d+", body)]
        if element == "f32":
            codes = [struct.unpack("<f", struct.pack("<i", code))[0]
                     for code in codes]
        elif element == "bf16":
            codes = [struct.unpack("<f", struct.pack("<I", (code & 0xFFFF)
                                                     << 16))[0]
                     for code in codes]
        values.append(codes)
    return values


def main():
    path, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    converted = os.path.join(folder, "tmap.mlir")
    run("furiosa-opt-mlir", path, "--convert-linalg-to-tmap", "-o", converted)
    failed = False
    for match in re.finditer(r"func\.func @(\w+)\((.*?)\) -> (.*) \{", text):
        name, parameters, returned = match.groups()
        results = re.findall(r"tensor<[^>]*>", returned)
        arguments, files = [], []
        for i, type_text in enumerate(re.findall(r"tensor<[^>]*>",
                                                 parameters)):
            shape, element = parse_type(type_text)
            count = 1
            for size in shape:
                count *= size
            values = numbers(len(name) + i, count, element)
            arguments.append(((shape, element), type_text, values))
            files.append(os.path.join(folder, f"{name}.{i}.npy"))
            write_npy(files[-1], shape, element, values)
        expected = run_on_cpu(text, name, arguments, results)
        run("furiosa-run", converted, f"--kernel={name}", "--check", "-o",
            folder, *files)
        worst = 0.0
        for i, values in enumerate(expected):
            found = read_npy(os.path.join(folder, f"result{i}.npy"))
            if len(found) != len(values):
                sys.exit(f"{name}: {len(found)} values, expected "
                         f"{len(values)}")
            for a, b in zip(found, values):
                if a != b:
                    worst = max(worst, abs(a - b) / max(abs(a), abs(b)))
        agrees = worst <= TOLERANCE.get(name, 0)
        failed |= not agrees
        print(f"{name}: {sum(map(len, expected))} values "
              f"{'agree' if agrees else f'differ by {worst:.3g}'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
