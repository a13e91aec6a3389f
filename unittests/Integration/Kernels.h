//===- Kernels.h - Kernels built for tests ----------------------*- C++ -*-===//
//
// A kernel from text to binary, as a user would get it.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_INTEGRATION_KERNELS_H
#define FURIOSA_UNITTESTS_INTEGRATION_KERNELS_H

#include "furiosa/HostArrays/HostArray.h"
#include "furiosa/Target/RNGD/EDF.h"
#include "furiosa/Target/RNGD/Simulator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace furiosa::test {

/// A kernel, parsed and compiled.
struct Built {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp kernel;
  /// The file, and what its reader gives.
  std::vector<uint8_t> file;
  rngd::edf::Kernel binary;
  std::vector<OperandLayout> inputs, outputs;
};

/// Who refused a kernel: the check (with parser and verifiers), or a step
/// behind it.
enum class Refusal { None, Check, Lowering };

/// Compiles; where the kernel is refused, `message` gets what was said, a line
/// "LINE:COLUMN: SEVERITY: TEXT" for each error and note. A refusal without an
/// error fails the test.
Refusal tryBuild(const std::string &text, Built &built, std::string &message);
/// Fails the test unless the check refuses a kernel with an error at a line of
/// the text that names the rule.
void expectRefusedAt(const std::string &text, unsigned line,
                     llvm::StringRef rule);
/// Writes the file of what `tryBuild` accepted and reads it again; sets the
/// layouts of arguments and outputs. Fails the test where that fails.
void writeAndLoad(Built &built);
/// Both; fails the test where a step fails.
void build(const std::string &text, Built &built);
/// The same for the kernel of `examples/NAME.mlir`.
void buildFile(llvm::StringRef name, Built &built);

using Codes = std::vector<uint32_t>;

/// Values for all inputs by a fill of docs/getting-started.md, each its own.
std::vector<HostArray> makeArguments(const Built &built, llvm::StringRef kind);
/// Runs `built` in the interpreter, which fills `results`, and in the
/// simulator: with effects as late and as early as the queue allows, and with
/// random durations for `seeds` seeds. Says what differs first, or nothing. A
/// cell that the interpreter leaves undefined may hold anything.
std::string runBoth(const Built &built, llvm::ArrayRef<HostArray> arguments,
                    std::vector<HostArray> &results, unsigned seeds = 0);
/// Fails the test where the two differ.
void expectAgreement(const Built &built, llvm::ArrayRef<HostArray> arguments);
/// Runs `built` in both semantics and compares its one result with `expected`.
void compare(const Built &built, llvm::ArrayRef<HostArray> arguments,
             const Codes &expected, unsigned seeds = 5);

/// Choices of a generator of kernels; FURIOSA_SEED and FURIOSA_CASES set seed
/// and number of cases, which are printed.
class Choices {
public:
  explicit Choices(int defaultCases);
  int64_t pick(std::initializer_list<int64_t> list) {
    return list.begin()[random() % list.size()];
  }
  bool chance(int percent) { return int(random() % 100) < percent; }

  int cases;

private:
  std::mt19937_64 random;
};

//===----------------------------------------------------------------------===//
// Generated kernels
//===----------------------------------------------------------------------===//

/// The seeds of a generator: `count` from `first` on. FURIOSA_GENERATED_CASES
/// and FURIOSA_SEED set them; without, they are `defaultCount` and 0, so that
/// every run has the same cases. Both are printed.
struct GeneratedCases {
  explicit GeneratedCases(unsigned defaultCount);
  unsigned first, count;
};

/// How often each thing was generated.
using Histogram = std::map<std::string, unsigned>;
/// Prints counts and shares of `cases`.
void printHistogram(const Histogram &histogram, unsigned cases);

/// A copy of a kernel's text with one fault: a line left out, doubled or
/// exchanged with the next, a clause or a slot left out, a number, a word or a
/// character of a mapping changed. `what` says which.
std::string mutate(const std::string &text, std::mt19937_64 &random,
                   std::string &what);

/// Mutants and what became of them.
struct MutantCounts {
  unsigned made = 0, refused = 0, refusedLate = 0, agreed = 0;
};
/// Builds a mutant and runs it with the arguments that `make` gives; says what
/// is wrong where it is neither refused with a message nor agrees.
std::string
tryMutant(const std::string &mutant,
          llvm::function_ref<std::vector<HostArray>(const Built &)> make,
          MutantCounts &counts);
/// Makes `count` mutants of a kernel. Each is refused with a message or still
/// agrees; all else fails the test. `fill` is that of makeArguments.
void tryMutants(const std::string &text, unsigned seed, unsigned count,
                llvm::StringRef fill, MutantCounts &counts);

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

float asFloat(uint32_t pattern);
/// The pattern; NaNs are one.
uint32_t asPattern(float value);
/// Value of a bf16 or 8-bit float code, by the definition of its format.
float valueOf(ElementType type, uint32_t code);

} // namespace furiosa::test

#endif // FURIOSA_UNITTESTS_INTEGRATION_KERNELS_H
