//===- EDFExercise.h - Does with a file all that can be done ----*- C++ -*-===//
//
// For mutated and fuzzed files: no input may crash, hang, or make memory grow
// beyond a small multiple of the file.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_TARGET_EDFEXERCISE_H
#define FURIOSA_UNITTESTS_TARGET_EDFEXERCISE_H

#include "furiosa/Target/RNGD/Simulator.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstdlib>

namespace furiosa::test {

/// What became of a file.
struct Outcome {
  bool isOpened = false;
  bool isLoaded = false;
  unsigned kernelsRun = 0;
};

/// Stops the program: tests of what must always hold, also in a fuzzer.
inline void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

/// Reads the file whole and section by section.
inline Outcome readFile(llvm::ArrayRef<uint8_t> bytes,
                        std::vector<rngd::edf::Kernel> &kernels) {
  using namespace rngd::edf;
  Outcome outcome;
  auto drop = [](auto section) {
    if (!section)
      llvm::consumeError(section.takeError());
  };
  auto reader = Reader::open(bytes, "f.edf");
  if (!reader) {
    require(llvm::StringRef(llvm::toString(reader.takeError()))
                .starts_with("f.edf: offset "),
            "a fault of the container has an offset");
    return outcome;
  }
  outcome.isOpened = true;
  for (unsigned k = 0; k < reader->numKernels(); ++k) {
    drop(reader->programs(k));
    drop(reader->spmImage(k));
    drop(reader->arguments(k));
    drop(reader->plan(k));
    drop(reader->constants(k));
    drop(reader->schedule(k));
    drop(reader->names(k));
    drop(reader->info(k));
    drop(reader->locations(k));
  }
  auto loaded = reader->loadAll();
  if (!loaded) {
    require(llvm::StringRef(llvm::toString(loaded.takeError()))
                .starts_with("f.edf: "),
            "a fault of a section has a file");
    return outcome;
  }
  outcome.isLoaded = true;
  kernels = std::move(*loaded);
  return outcome;
}

/// The text of a file, and back: what is sound comes back the same.
inline void convertFile(llvm::ArrayRef<uint8_t> bytes,
                        llvm::ArrayRef<rngd::edf::Kernel> kernels) {
  using namespace rngd::edf;
  auto reader = llvm::cantFail(Reader::open(bytes, "f.edf"));
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::Error error = disassemble(os, reader);
  bool hasText = !error;
  llvm::consumeError(std::move(error));
  require(hasText == !kernels.empty(), "what loads has a text, nothing else");
  auto assembled = assemble(text);
  auto written = write(kernels);
  if (!assembled) {
    llvm::consumeError(assembled.takeError());
    // Two kernels of one name can be read, and not written.
    require(!written || kernels.empty() || reader.minorVersion() != 0,
            "the text of what can be written assembles");
    llvm::consumeError(written.takeError());
    return;
  }
  if (!written) {
    llvm::consumeError(written.takeError());
    require(false, "what assembles can be written");
  }
  auto again = llvm::cantFail(Reader::open(*assembled));
  require(llvm::cantFail(again.loadAll()) == kernels.vec(),
          "the text says everything");
}

/// The file as JSON, which is said of what loads and of nothing else.
inline std::string exportFile(llvm::ArrayRef<uint8_t> bytes,
                              llvm::ArrayRef<rngd::edf::Kernel> kernels) {
  using namespace rngd::edf;
  auto reader = llvm::cantFail(Reader::open(bytes, "f.edf"));
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::Error error = disassembleJson(os, reader);
  require(!error == !kernels.empty(), "what loads has JSON, nothing else");
  llvm::consumeError(std::move(error));
  return text;
}

/// Runs each kernel on zeros, within narrow bounds.
inline unsigned runKernels(llvm::ArrayRef<rngd::edf::Kernel> kernels) {
  using namespace rngd;
  unsigned numRun = 0;
  for (const edf::Kernel &kernel : kernels) {
    SimulationOptions options;
    options.maxInstructions = 5000;
    options.maxSteps = 1 << 16;
    options.maxOperandBytes = 1 << 20;
    std::vector<OperandBuffer> operands;
    uint64_t total = 0;
    for (const edf::Operand &operand : kernel.arguments.operands) {
      total = std::min<uint64_t>(options.maxOperandBytes + 1,
                                 total + operand.bytes);
      operands.emplace_back();
      if (total <= options.maxOperandBytes &&
          (operand.role == edf::Role::Input ||
           operand.role == edf::Role::InOut))
        operands.back().bytes.resize(operand.bytes);
    }
    auto result = simulate(kernel, operands, options);
    if (result)
      ++numRun;
    else
      llvm::consumeError(result.takeError());
  }
  return numRun;
}

} // namespace furiosa::test

#endif // FURIOSA_UNITTESTS_TARGET_EDFEXERCISE_H
