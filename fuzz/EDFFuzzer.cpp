//===- EDFFuzzer.cpp - libFuzzer on reader, text and simulator ------------===//
//
// Start it on a folder of EDF files:
//
//   ASAN_OPTIONS=detect_container_overflow=0 \
//     furiosa-edf-fuzzer -max_len=65536 -rss_limit_mb=1024 corpus/
//
//===----------------------------------------------------------------------===//

#include "EDFChecksums.h"
#include "EDFExercise.h"

#include "llvm/Support/JSON.h"

using namespace furiosa;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Most changes would end at the checks, so these are made right again.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, maxSize);
  if (seed % 8 == 0)
    return size;
  std::vector<uint8_t> file(data, data + size);
  test::repairChecks(file);
  std::copy(file.begin(), file.end(), data);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::ArrayRef<uint8_t> bytes(data, size);
  std::vector<rngd::edf::Kernel> kernels;
  test::Outcome outcome = test::readFile(bytes, kernels);
  if (outcome.isOpened) {
    test::convertFile(bytes, kernels);
    test::require(bool(llvm::expectedToOptional(
                      llvm::json::parse(test::exportFile(bytes, kernels)))),
                  "JSON can be parsed");
  }
  test::runKernels(kernels);
  return 0;
}
