"""Sees that no worked vector, no illegal program and no chain of the corpus
with vector stages is left without a test.

usage: vector-coverage.py ROOT
"""

import os
import re
import sys

CORPUS_TESTS = "unittests/Integration/CorpusChainTest.cpp"
DECODER, MNIST = "examples/decoder.mlir", "examples/mnist.mlir"
KERNELS = "test/vectors/kernels.json"
SLICES = "test/Integration/Inputs/corpus/slices.mlir"

# Chains of the corpus that pass the vector engine: where they are tested, and a
# word that stands there.
CHAINS = {
    "A1": (KERNELS, '"id":"A1"'), "A3": (KERNELS, '"id":"A3"'),
    "F4": (KERNELS, '"id":"F"'), "J5": (KERNELS, '"id":"J5"'),
    "J10": (MNIST, "vector_zip clip add"),
    "K13": (KERNELS, '"id":"K13"'), "K15": (CORPUS_TESTS, "GateTimesUp"),
    "K21": (DECODER, "vector_fp div"),
    "K23": (CORPUS_TESTS, "RowMaximum"),
    "K25": (CORPUS_TESTS, "ExponentialsOfDifferences"),
    "K26": (CORPUS_TESTS, "Mask"), "K27": (CORPUS_TESTS, "RowSum"),
    "K32": (CORPUS_TESTS, "SumOverSlices"),
    "K33": (CORPUS_TESTS, "RunningMaximumScaleAndSum"),
    "K34": (CORPUS_TESTS, "RunningMaximumScaleAndSum"),
    "K35": (CORPUS_TESTS, "RunningMaximumScaleAndSum"),
    "K36": (CORPUS_TESTS, "ScaledSumsOfHeads"),
    "K37": (CORPUS_TESTS, "ScaledSumsOfHeads"),
    "K38": (CORPUS_TESTS, "MeanSquareOfARow"),
    "K39": ("examples/rmsnorm.mlir", "vector_fp sqrt"),
    "K41": (CORPUS_TESTS, "NormApplied"),
    "K42": (CORPUS_TESTS, "MeanSquareOfHeadsAndItsRoot"),
    "K43": (CORPUS_TESTS, "MeanSquareOfHeadsAndItsRoot"),
    "K46": (CORPUS_TESTS, "RotaryPositions"),
    "K47": (CORPUS_TESTS, "RotaryPositions"),
    "K48": (CORPUS_TESTS, "Residual"),
    "L1": (CORPUS_TESTS, "BinaryAddOfBytes"),
    "L2": (CORPUS_TESTS, "OperandOfEveryRow"),
    "L3": (KERNELS, '"id":"L3"'), "L4": (KERNELS, '"id":"L4"'),
    "N2": (SLICES, "@n2"), "N7": (SLICES, "@n7"), "N9": (KERNELS, '"id":"N9"'),
    "N11": (SLICES, "@n11"), "N12": (SLICES, "@n12"),
    "N14": (CORPUS_TESTS, "ProductWithAnOperandInTime"),
}


def read(path):
    with open(os.path.join(sys.argv[1], path), encoding="utf-8") as file:
        return file.read()


def numbers_of(name):
    """41, 42, 45 to 49 of FloatCasts41To42And45To49."""
    for first, last in re.findall(r"(\d+)(?:To(\d+))?", name):
        yield from range(int(first), int(last or first) + 1)


def main():
    vectors = set()
    for name in re.findall(r"TEST\(WorkedVectors, \w*?(\d\w*)\)",
                           read("unittests/Integration/WorkedVectorsTest.cpp")):
        vectors.update(numbers_of(name))
    for numbers in re.findall(r"TEST\(ValidCount, \w+\) { // ([\d, ]+)\n",
                              read("unittests/VISA/ValidCountTest.cpp")):
        vectors.update(int(number) for number in numbers.split(", "))
    assert vectors == set(range(1, 53)), vectors ^ set(range(1, 53))

    illegal = re.findall(r"^ +\{(\d+),\s*\"[A-Z]+-\d+\"",
                         read("unittests/Integration/IllegalVectorTest.cpp"),
                         re.MULTILINE)
    assert sorted(map(int, illegal)) == list(range(1, 40)), illegal

    rules = dict(re.findall(r"^\| VE-(\d+) \|.*\| (.*) \|$",
                            read("docs/rules.md"), re.MULTILINE))
    assert set(map(int, rules)) == set(range(1, 72)), rules
    for rule, tests in rules.items():
        assert ".mlir" in tests or tests.startswith("no error: "), rule

    for chain, (path, word) in CHAINS.items():
        assert word in read(path), chain
    print(f"{len(vectors)} vectors, {len(illegal)} illegal programs, "
          f"{len(rules)} rules, {len(CHAINS)} chains")


main()
