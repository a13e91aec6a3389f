//===- GraphDump.cpp - Tensors and operators of a kernel ------------------===//
//
// Any level above resource: a value of a tensor or memory type is a tensor, an
// op that reads, writes or makes one is an operator.
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "furiosa/Dialect/LIR/IR/LIR.h"
#include "furiosa/Dialect/Resource/Transforms/Dependences.h"
#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"
#include "furiosa/Dialect/VISA/IR/VISA.h"
#include "furiosa/Tools/Compile.h"
#include "furiosa/Tools/Dumps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace furiosa;
using json = nlohmann::ordered_json;

namespace {
class GraphWriter {
public:
  explicit GraphWriter(Operation *kernel) : kernel(kernel), describer(kernel) {}
  json write();

private:
  void addRegion(Region &region, json loops);
  void addOperator(Operation &op, const json &loops);
  std::optional<std::string> getTensor(Value value);

  Operation *kernel;
  compile::CommandDescriber describer;
  json tensors = json::object(), operators = json::object();
  llvm::DenseMap<Value, std::string> ids;
  /// Regions so far, and the one that is looked at.
  unsigned subgraphs = 0, current = 0;
};
} // namespace

static bool isTensor(Type type) {
  return isa<lir::MemType>(type) || visa::getTensorParts(type).elementType;
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// One dimension of a shape: its name and axes.
static json makeDimension(StringRef name, json axes) {
  json dimension = json::array();
  dimension.push_back(name.str());
  dimension.push_back(std::move(axes));
  return dimension;
}

static json makeAxis(json tag, uint64_t size) {
  json axis = {{"tag", std::move(tag)}, {"size", size}};
  return {{"Orig", {{"axis", std::move(axis)}, {"aliases", json::array()}}}};
}

/// Memory holds bytes that nothing names; a tensor says how its axes lie.
static json makeShape(Type type) {
  json dimensions = json::array();
  json mapping = nullptr;
  if (auto memory = dyn_cast<lir::MemType>(type)) {
    for (StringRef name : {"Chip", "Cluster", "Partitioning"})
      dimensions.push_back(makeDimension(name, json::array()));
    dimensions.push_back(makeDimension(
        "InSlice",
        json::array({makeAxis("None", uint64_t(memory.getBytes()))})));
  } else {
    visa::TensorParts parts = visa::getTensorParts(type);
    json axes = json::array();
    for (const mapping::Axis &axis : parts.axes.getAxes().list()) {
      json label = {{"LabelStride", {{"label", axis.name}, {"stride", 1}}}};
      axes.push_back(makeAxis(std::move(label), uint64_t(axis.size)));
    }
    auto text = [](tmap::MappingAttr part) -> json {
      return part ? json(part.getText().str()) : json(nullptr);
    };
    mapping = {
        {"chip", text(parts.chip)},       {"cluster", text(parts.cluster)},
        {"slice", text(parts.slice)},     {"lane", text(parts.lane)},
        {"element", text(parts.element)}, {"axes", std::move(axes)}};
  }
  json inner = {
      {"shape", std::move(dimensions)}, {"packing", nullptr},
      {"offset_shape", nullptr},        {"indirect_vecs", json::array()},
      {"tail_alignment", nullptr},      {"calculation_buffer_config", nullptr}};
  json shape = {{"MultiShape", {{"inner", std::move(inner)}}}};
  shape["text"] = print(type);
  shape["mapping"] = std::move(mapping);
  return shape;
}

static std::string getBufferType(Type type) {
  if (auto memory = dyn_cast<lir::MemType>(type))
    switch (memory.getTier()) {
    case lir::Tier::Hbm:
      return "Dram";
    case lir::Tier::Dm:
      return "Sram";
    case lir::Tier::Trf:
      return "Trf";
    case lir::Tier::Vrf:
      return "Vrf";
    }
  if (isa<visa::HbmType>(type))
    return "Dram";
  if (isa<visa::TrfType>(type))
    return "Trf";
  if (isa<visa::VrfType>(type))
    return "Vrf";
  return "Sram";
}

std::optional<std::string> GraphWriter::getTensor(Value value) {
  if (!isTensor(value.getType()))
    return std::nullopt;
  auto [it, isNew] = ids.try_emplace(value, std::to_string(ids.size()));
  if (!isNew)
    return it->second;
  std::string name;
  if (auto argument = dyn_cast<BlockArgument>(value))
    name = (isa<FunctionOpInterface>(argument.getOwner()->getParentOp())
                ? "arg"
                : "carried") +
           std::to_string(argument.getArgNumber());
  json type = nullptr, size = nullptr;
  if (auto memory = dyn_cast<lir::MemType>(value.getType())) {
    type = "u8";
    size = memory.getBytes();
  } else {
    type = print(visa::getTensorParts(value.getType()).elementType);
  }
  tensors[it->second] = {{"name", name},
                         {"buffer_type", getBufferType(value.getType())},
                         {"shape", makeShape(value.getType())},
                         {"element_type", std::move(type)},
                         {"size", std::move(size)},
                         {"optionals", {{"address", nullptr}}}};
  return it->second;
}

void GraphWriter::addOperator(Operation &op, const json &loops) {
  llvm::SetVector<Value> inputs, outputs;
  for (resource::Access access : resource::getAccesses(&op))
    // What is made inside of an op is none of the others' business.
    if (access.buffer.getParentRegion()->isAncestor(op.getParentRegion()))
      (access.isWrite ? outputs : inputs).insert(access.buffer);
  auto addOperands = [&](Operation *user) {
    for (Value operand : user->getOperands())
      if (isTensor(operand.getType()) && !outputs.contains(operand) &&
          operand.getParentRegion()->isAncestor(op.getParentRegion()))
        inputs.insert(operand);
  };
  op.walk([&](Operation *nested) { addOperands(nested); });
  for (Value result : op.getResults())
    outputs.insert(result);
  json from = json::array(), to = json::array();
  for (Value value : inputs)
    if (auto id = getTensor(value))
      from.push_back(*id);
  for (Value value : outputs)
    if (auto id = getTensor(value))
      to.push_back(*id);
  if (from.empty() && to.empty())
    return;
  StringRef kind = op.getName().getStringRef();
  StringRef context = "None";
  if (auto exec = dyn_cast<lir::ExecOp>(op))
    context = lir::stringifyContext(exec.getContext());
  else if (isa<lir::DmaOp>(op))
    context = "dma";
  else if (auto chain = dyn_cast<visa::ChainOp>(op))
    context = visa::stringifyContext(chain.getContext());
  std::string id = std::to_string(operators.size());
  operators[id] = {{"name", op.getName().stripDialect().str() + "_" + id},
                   {"description", describer.describe(op.getLoc(), op)},
                   {"inputs", std::move(from)},
                   {"outputs", std::move(to)},
                   {"context", context.str()},
                   {"kind", kind.str()},
                   {"subgraph", current},
                   {"loop_info", loops},
                   {"history", json::object()},
                   {"optionals", json::object()},
                   {"is_external", false}};
}

void GraphWriter::addRegion(Region &region, json loops) {
  unsigned outer = std::exchange(current, subgraphs++);
  for (Block &block : region)
    for (Operation &op : block) {
      if (op.hasTrait<OpTrait::IsTerminator>())
        continue;
      // Chains and execs are one operator, loops and branches are many.
      bool isControl =
          op.getNumRegions() != 0 && !isa<visa::ChainOp, lir::ExecOp>(op);
      if (!isControl) {
        addOperator(op, loops);
        continue;
      }
      json inner = loops;
      if (isa<LoopLikeOpInterface>(op)) {
        json trips = nullptr;
        if (auto loop = dyn_cast<scf::ForOp>(op))
          if (auto count = loop.getStaticTripCount())
            trips = count->getZExtValue();
        inner.push_back({{"kind", op.getName().getStringRef().str()},
                         {"trips", std::move(trips)}});
      }
      for (Region &nested : op.getRegions())
        addRegion(nested, inner);
    }
  current = outer;
}

json GraphWriter::write() {
  json inputs = json::array(), outputs = json::array();
  Region &body = kernel->getRegion(0);
  if (!body.empty()) {
    for (BlockArgument argument : body.front().getArguments())
      if (auto id = getTensor(argument))
        inputs.push_back(*id);
    addRegion(body, json::array());
    for (Value result : body.back().getTerminator()->getOperands())
      if (auto id = getTensor(result))
        outputs.push_back(*id);
  }
  json graph = json::object();
  graph["tensors"] = std::move(tensors);
  graph["operators"] = std::move(operators);
  graph["inputs"] = std::move(inputs);
  graph["outputs"] = std::move(outputs);
  graph["hidden_outputs"] = json::array();
  return graph;
}

std::string furiosa::dumpGraph(Operation *module) {
  Operation *kernel = nullptr;
  module->walk([&](Operation *op) {
    if (isKernel(op))
      kernel = op;
  });
  if (!kernel)
    return "";
  return compile::dumpJson(GraphWriter(kernel).write(), 1) + "\n";
}
