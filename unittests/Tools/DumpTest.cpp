//===- DumpTest.cpp - What dumps for viewers cost -------------------------===//
//
// Counts what dumps allocate: twice the commands, twice the memory. A dump that
// looks at the whole kernel for each command asks for four times as much.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Conversion/Pipelines.h"
#include "furiosa/InitAllDialects.h"
#include "furiosa/Tools/Dumps.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>

using namespace mlir;
using namespace furiosa;

/// Bytes that this thread has asked operator new for.
static thread_local uint64_t allocated = 0;

static void *allocate(size_t bytes, size_t alignment) {
  allocated += bytes;
  // A size must be a multiple of the alignment.
  if (void *memory =
          std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment))
    return memory;
  std::abort();
}

void *operator new(size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
void *operator new[](size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
void *operator new(size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, size_t(alignment));
}
void *operator new[](size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, size_t(alignment));
}
// Those that do not throw need a place here as well: LLVM's containers ask for
// them, and what one allocator gives another must not free.
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  return allocate(bytes, alignof(std::max_align_t));
}
void *operator new[](size_t bytes, const std::nothrow_t &) noexcept {
  return allocate(bytes, alignof(std::max_align_t));
}
void *operator new(size_t bytes, std::align_val_t alignment,
                   const std::nothrow_t &) noexcept {
  return allocate(bytes, size_t(alignment));
}
void *operator new[](size_t bytes, std::align_val_t alignment,
                     const std::nothrow_t &) noexcept {
  return allocate(bytes, size_t(alignment));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void *memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void *memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void *memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

/// A kernel of `count` commands between two transfers.
static std::string makeKernel(unsigned count) {
  std::string text = R"(
func.func @kernel(%a: !lir.mem<hbm, 2048>) attributes {visa.kernel,
    lir.pes = 1, lir.clusters = array<i64: 0>, lir.release = "0.6"} {
  %0 = lir.alloc : !lir.mem<dm, 32>
  lir.dma %a to %0 engines [#lir.engine<cluster 0 pe 0 from 0 to 0
      loops [64 : 32 : 4194304] packet 32>]
      : !lir.mem<hbm, 2048>, !lir.mem<dm, 32>
)";
  for (unsigned i = 0; i < count; ++i) {
    std::string from = "%" + std::to_string(i),
                to = "%" + std::to_string(i + 1);
    text += "  " + to + R"( = lir.alloc : !lir.mem<dm, 32>
  lir.exec main {
    fetch_sequencer )" +
            from + R"( loops [1 : 0] read 32 packet 32 flits 1
        : !lir.mem<dm, 32>
    collect flits_per_packet 1
    commit_adapter in 32 keep 32
    commit_sequencer )" +
            to + R"( loops [1 : 0] write 32 slices [0, 63]
        : !lir.mem<dm, 32>
  }
)";
  }
  return text + R"(  lir.dma %)" + std::to_string(count) +
         R"( to %a engines [#lir.engine<cluster 0 pe 0 from 0 to 0
      loops [64 : 4194304 : 32] packet 32>]
      : !lir.mem<dm, 32>, !lir.mem<hbm, 2048>
  return
}
)";
}

namespace {
struct Counts {
  uint64_t graph = 0, schedule = 0, trace = 0, lifetimes = 0, summary = 0;
};
} // namespace

static Counts countBytes(unsigned commands) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto module = parseSourceString<ModuleOp>(makeKernel(commands), &context);
  Counts counts;
  auto count = [&](auto dump) {
    uint64_t before = allocated;
    std::string text = dump();
    uint64_t used = allocated - before;
    EXPECT_GT(text.size(), commands);
    return used;
  };
  if (!module) {
    ADD_FAILURE() << "the kernel does not parse";
    return counts;
  }
  counts.graph = count([&] { return dumpGraph(*module); });
  resource::ProgramOp program;
  EXPECT_TRUE(succeeded(runFuriosaPipeline(*module)));
  module->walk([&](resource::ProgramOp op) { program = op; });
  if (!program) {
    ADD_FAILURE() << "the kernel gave no program";
    return counts;
  }
  counts.schedule = count([&] { return dumpSchedule(program); });
  counts.trace = count([&] { return dumpTrace(program); });
  counts.lifetimes = count([&] { return dumpLifetimes(program); });
  counts.summary = count([&] {
    Summary summary;
    summary.addProgram(program);
    return summary.toJson();
  });
  return counts;
}

TEST(Dumps, LinearInCommands) {
  // What is registered or made once does not count.
  countBytes(1);
  Counts once = countBytes(200), twice = countBytes(400);
  for (auto [name, count] : {std::pair("graph", &Counts::graph),
                             {"schedule", &Counts::schedule},
                             {"trace", &Counts::trace},
                             {"lifetimes", &Counts::lifetimes},
                             {"summary", &Counts::summary}}) {
    std::cout << name << ": " << once.*count << " and " << twice.*count
              << " bytes\n";
    EXPECT_LT(double(twice.*count), 2.3 * double(once.*count)) << name;
  }
}
