//===- Kernels.cpp - Kernels built for tests ------------------------------===//

#include "Kernels.h"

#include "furiosa/InitAllDialects.h"
#include "furiosa/Interpreter/Interpreter.h"
#include "furiosa/Tools/Compile.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace furiosa;
using namespace mlir;

void test::build(const std::string &text, Built &built) {
  DialectRegistry registry;
  registerAllDialects(registry);
  interpreter::registerInterpreterModels(registry);
  built.context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  built.module = parseSourceString<ModuleOp>(text, built.context.get());
  ASSERT_TRUE(built.module) << text;
  built.module->walk([&](func::FuncOp op) { built.kernel = op; });
  auto binary = compileKernel(*built.module, built.kernel);
  ASSERT_TRUE(succeeded(binary)) << text;
  auto bytes = rngd::edf::write(*binary);
  ASSERT_TRUE(static_cast<bool>(bytes)) << llvm::toString(bytes.takeError());
  built.file = std::move(*bytes);
  auto reader = rngd::edf::Reader::open(built.file);
  ASSERT_TRUE(static_cast<bool>(reader)) << llvm::toString(reader.takeError());
  auto loaded = reader->loadExecutable();
  ASSERT_TRUE(static_cast<bool>(loaded)) << llvm::toString(loaded.takeError());
  built.binary = std::move(*loaded);
  for (Type type : built.kernel.getArgumentTypes())
    built.inputs.push_back(llvm::cantFail(interpreter::getOperandLayout(type)));
  for (const interpreter::Output &output :
       interpreter::getOutputs(built.kernel))
    built.outputs.push_back(
        llvm::cantFail(interpreter::getOperandLayout(output.type)));
}

void test::buildFile(StringRef name, Built &built) {
  auto buffer = llvm::MemoryBuffer::getFile(llvm::Twine(FURIOSA_EXAMPLES "/") +
                                            name + ".mlir");
  ASSERT_TRUE(static_cast<bool>(buffer)) << name.str();
  build((*buffer)->getBuffer().str(), built);
}
