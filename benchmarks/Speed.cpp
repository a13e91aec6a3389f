//===- Speed.cpp - How fast kernels compile and run on the host -----------===//
//
// Whole runs of the example kernels in interpreter and simulator, with the
// multiplications a second of those that contract, and their compilation.
//
//===----------------------------------------------------------------------===//

#include "furiosa/HostArrays/HostArray.h"
#include "furiosa/InitAllDialects.h"
#include "furiosa/Interpreter/Interpreter.h"
#include "furiosa/Support/Fill.h"
#include "furiosa/Target/RNGD/Simulator.h"
#include "furiosa/Tools/Compile.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "benchmark/benchmark.h"

using namespace furiosa;
using namespace mlir;

namespace {

struct Example {
  explicit Example(const std::string &name) {
    DialectRegistry registry;
    registerAllDialects(registry);
    interpreter::registerInterpreterModels(registry);
    context.appendDialectRegistry(registry);
    module = parseSourceFile<ModuleOp>(FURIOSA_EXAMPLES "/" + name + ".mlir",
                                       &context);
    if (!module)
      return;
    module->walk([&](func::FuncOp op) { kernel = op; });
    for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
      layouts.push_back(llvm::cantFail(interpreter::getOperandLayout(type)));
      arguments.push_back(layouts.back().fill(Fill::bits(1 + index)));
    }
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  func::FuncOp kernel;
  std::vector<OperandLayout> layouts;
  std::vector<HostArray> arguments;
};

} // namespace

static void compileExample(benchmark::State &state, const std::string &name) {
  Example example(name);
  for (auto _ : state)
    benchmark::DoNotOptimize(compileKernel(*example.module, example.kernel));
}

static void interpretExample(benchmark::State &state, const std::string &name,
                             double multiplications) {
  Example example(name);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        interpreter::interpret(example.kernel, example.arguments));
  state.counters["MAC/s"] = benchmark::Counter(
      multiplications, benchmark::Counter::kIsIterationInvariantRate);
}

static void simulateExample(benchmark::State &state, const std::string &name,
                            double multiplications) {
  Example example(name);
  rngd::edf::Kernel binary = *compileKernel(*example.module, example.kernel);
  std::vector<rngd::OperandBuffer> given(binary.arguments.operands.size());
  for (size_t i = 0; i < example.arguments.size(); ++i) {
    OperandBytes packed = llvm::cantFail(
        packOperand(example.layouts[i], example.arguments[i]));
    given[i] = {packed.bytes, packed.defined};
  }
  for (auto _ : state) {
    std::vector<rngd::OperandBuffer> operands = given;
    benchmark::DoNotOptimize(llvm::cantFail(rngd::simulate(binary, operands)));
  }
  state.counters["MAC/s"] = benchmark::Counter(
      multiplications, benchmark::Counter::kIsIterationInvariantRate);
}

static constexpr double gemm = 512.0 * 512 * 64, gemv = 131072.0 * 64;

BENCHMARK_CAPTURE(compileExample, gemm_i8, "gemm_i8");
BENCHMARK_CAPTURE(compileExample, gemv_tiled, "gemv_tiled");
BENCHMARK_CAPTURE(interpretExample, gemm_i8, "gemm_i8", gemm);
BENCHMARK_CAPTURE(interpretExample, gemm_bf16, "gemm_bf16", gemm);
BENCHMARK_CAPTURE(interpretExample, gemv_tiled, "gemv_tiled", gemv);
BENCHMARK_CAPTURE(simulateExample, gemm_i8, "gemm_i8", gemm);
BENCHMARK_CAPTURE(simulateExample, gemm_bf16, "gemm_bf16", gemm);
BENCHMARK_CAPTURE(simulateExample, gemv_tiled, "gemv_tiled", gemv);
