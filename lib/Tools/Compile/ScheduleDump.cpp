//===- ScheduleDump.cpp - Schedules for the viewer ------------------------===//

#include "ScheduleDump.h"

#include "Diagnostics.h"
#include "Timeline.h"

#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"
#include "furiosa/Dialect/Resource/Transforms/Costs.h"
#include "furiosa/Dialect/Resource/Transforms/Dependences.h"
#include "furiosa/Target/RNGD/Machine.h"
#include "furiosa/Tools/Dumps.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::compile;
using namespace furiosa::resource;
using json = nlohmann::ordered_json;
namespace machine = furiosa::rngd::machine;

/// The viewer counts bytes of the whole chip.
static constexpr int64_t slicesOfChip =
    machine::clusters * machine::slicesPerCluster;
/// Pages are 32 KiB of each slice.
static constexpr int64_t pageBytesOfSlice = 32 * 1024;
/// Bytes that the engines of one transfer move in a cycle on the DM side, from
/// schedules of the reference toolchain.
static constexpr double dmaBytesPerCycle = 1359;
/// More than a reader wants to see; the viewer is made for 10,000.
static constexpr uint64_t mostCommands = 16384;

namespace {
class ScheduleWriter {
public:
  explicit ScheduleWriter(ProgramOp program)
      : program(program), timeline(program), describer(program) {
    for (Operation &op : program.getBody().front())
      if (isa<ArgumentOp, BufferOp>(op))
        numbers[op.getResult(0)] = numbers.size();
  }
  /// Null if the cycles of a command do not fit.
  json write();

private:
  json writeCommand(const TimelineEntry &entry);
  json writeLoop(const TimelineEntry &entry);
  /// What a number of the host says about a loop; null if none does.
  json writeCount(LoopOp loop);
  json writeWait(const TimelineEntry &entry);
  /// Numbers in the queue of what a command depends on.
  json writeDependences(Operation *op);
  json writeOperands();
  json writeTensors();
  json writeTensor(BufferOp buffer);

  ProgramOp program;
  Timeline timeline;
  CommandDescriber describer;
  llvm::DenseMap<Value, size_t> numbers;
  llvm::DenseMap<Operation *, CommandFacts> facts;
  /// Numbers in the queue of the commands last met.
  llvm::DenseMap<Operation *, uint64_t> met;
  /// First and last command that touches a buffer.
  llvm::DenseMap<Value, std::pair<uint64_t, uint64_t>> touched;
};
} // namespace

/// Bytes on the DM side of a transfer, copies counted.
static double countDmaBytes(lir::DmaOp dma) {
  double bytes = 0;
  for (Attribute attribute : dma.getEngines()) {
    auto engine = cast<lir::EngineAttr>(attribute);
    double moved = double(engine.getPacket());
    for (int64_t size : engine.getSizes())
      moved *= double(size);
    bytes += moved;
  }
  return bytes;
}

static json writeUtil(IssueOp issue, int64_t cycles) {
  double used = 0;
  if (auto dma = dyn_cast<lir::DmaOp>(issue.getBody().front().front());
      dma && cycles > 0)
    used =
        std::min(1.0, countDmaBytes(dma) / dmaBytesPerCycle / double(cycles));
  return {{"total_util", used}, {"base_util", used}, {"efficiency", used}};
}

json ScheduleWriter::writeDependences(Operation *op) {
  json after = json::array();
  for (Operation *before : facts[op].after)
    after.push_back(std::to_string(met.at(before)));
  return after;
}

json ScheduleWriter::writeCommand(const TimelineEntry &entry) {
  auto issue = cast<IssueOp>(entry.op);
  uint64_t index = entry.number;
  Operation &command = issue.getBody().front().front();
  StringRef kind = getCommandKind(issue);
  json contexts = json::array();
  StringRef tpe = kind;
  switch (issue.getEngine()) {
  case Engine::Dma:
    contexts.push_back("DmaEngine");
    break;
  case Engine::Main:
    tpe = "Main";
    contexts.push_back("MainContext");
    break;
  case Engine::Sub:
    tpe = "Sub";
    // The vector register file is filled through the main context.
    if (kind == "StoVrf")
      contexts.push_back("MainContext");
    contexts.push_back("SubContext");
    break;
  }
  if (auto exec = dyn_cast<lir::ExecOp>(command);
      exec && usesVectorEngine(exec))
    contexts.push_back("VectorEngine");
  llvm::SetVector<size_t> inputs, outputs;
  for (const Access &access : getAccesses(issue)) {
    auto it = numbers.find(access.buffer);
    if (it == numbers.end())
      continue;
    (access.isWrite ? outputs : inputs).insert(it->second);
    auto [at, isNew] = touched.try_emplace(access.buffer, index, index);
    at->second.second = index;
  }
  return {
      {"index", std::to_string(index)},
      {"history", json::object()},
      {"tpe", tpe.str()},
      {"contexts", std::move(contexts)},
      {"lifetime", {{"begin", entry.begin}, {"end", entry.end}}},
      {"input_tensors", inputs.getArrayRef().vec()},
      {"output_tensors", outputs.getArrayRef().vec()},
      {"description",
       describer.describe(issue.getLoc(), issue.getBody().front().front())},
      {"util", writeUtil(issue, entry.end - entry.begin)},
      {"scheduler_node_index", nullptr},
      {"after", writeDependences(issue)},
      {"cost",
       {{"cycles", facts[issue].cycles}, {"formula", facts[issue].formula}}}};
}

json ScheduleWriter::writeCount(LoopOp loop) {
  if (loop.getCounts().empty())
    return nullptr;
  json operands = json::array();
  for (auto [i, count] : llvm::enumerate(loop.getCounts()))
    operands.push_back({{"operand", std::to_string(numbers.at(count))},
                        {"scale", loop.getScale(i)}});
  json when = nullptr, bound = nullptr;
  if (loop.getWhen()) {
    when = stringifyCondition(*loop.getWhen()).str();
    bound = loop.getBound().value_or(0);
  }
  return {{"operands", std::move(operands)},
          {"plus", loop.getPlus().value_or(0)},
          {"when", std::move(when)},
          {"bound", std::move(bound)}};
}

json ScheduleWriter::writeLoop(const TimelineEntry &entry) {
  auto loop = cast<LoopOp>(entry.op);
  return {{"index", std::to_string(entry.number)},
          {"lifetime", {{"begin", entry.begin}, {"end", entry.end}}},
          {"trips", loop.getTrips()},
          {"cycles", loop.getCycles().value_or(0)},
          {"barrier", bool(loop.getBarrier())},
          {"count", writeCount(loop)},
          {"after", writeDependences(loop)}};
}

/// Null for a wait that waits for nothing.
json ScheduleWriter::writeWait(const TimelineEntry &entry) {
  auto wait = cast<WaitOp>(entry.op);
  IssueOp target = timeline.getTarget(wait);
  if (!target)
    return nullptr;
  json tag = nullptr;
  if (wait.getTag())
    tag = *wait.getTag();
  return {{"index", std::to_string(entry.number)},
          {"lifetime", {{"begin", entry.begin}, {"end", entry.end}}},
          {"engine", stringifyEngine(wait.getEngine()).str()},
          {"tag", std::move(tag)},
          {"instruction", std::to_string(met.at(target))}};
}

static std::pair<StringRef, bool> getBufferType(lir::Tier tier) {
  switch (tier) {
  case lir::Tier::Hbm:
    return {"Dram", false};
  case lir::Tier::Dm:
    return {"Sram", true};
  case lir::Tier::Trf:
    return {"Trf", false};
  case lir::Tier::Vrf:
    return {"Vrf", false};
  }
  llvm_unreachable("unknown tier");
}

json ScheduleWriter::writeTensor(BufferOp buffer) {
  lir::MemType type = buffer.getResult().getType();
  auto [bufferType, hasPages] = getBufferType(type.getTier());
  // In TRF an address is within a lane.
  int64_t address = buffer.getAddress().value_or(0) * type.getLanes();
  int64_t bytes = type.getBytes();
  json pages = json::array();
  if (hasPages)
    for (int64_t page = address / pageBytesOfSlice;
         page < int64_t(llvm::divideCeil(uint64_t(address + bytes),
                                         uint64_t(pageBytesOfSlice)));
         ++page)
      pages.push_back(page);
  auto name = buffer->getAttrOfType<StringAttr>("name");
  std::string shape;
  llvm::raw_string_ostream(shape) << type;
  auto [first, last] = touched.lookup(buffer.getResult());
  llvm::ArrayRef<int64_t> live = *buffer.getLive();
  return {{"name", name ? name.str() : std::string()},
          {"index", std::to_string(numbers.at(buffer.getResult()))},
          {"buffer_type", bufferType.str()},
          {"lifetime",
           {{"begin", live[0]},
            {"end", live[1]},
            {"block_begin", first},
            {"block_end", last}}},
          {"address", address * slicesOfChip},
          {"size", bytes * slicesOfChip},
          {"physical_pages", std::move(pages)},
          {"block_group_id", 0},
          {"block_group_offset", 0},
          {"shape", shape},
          {"fingerprint", nullptr}};
}

json ScheduleWriter::write() {
  auto found = getCommandFacts(program);
  if (failed(found))
    return nullptr;
  facts = std::move(*found);
  json instructions = json::array(), waits = json::array(),
       loops = json::array();
  uint64_t next = 0;
  timeline.visit(mostCommands, [&](const TimelineEntry &entry) {
    next = entry.number + 1;
    met[entry.op] = entry.number;
    if (isa<IssueOp>(entry.op))
      instructions.push_back(writeCommand(entry));
    else if (isa<LoopOp>(entry.op))
      loops.push_back(writeLoop(entry));
    else if (json wait = writeWait(entry); !wait.is_null())
      waits.push_back(std::move(wait));
  });
  // The end of every kernel: the core sees that all is done, then the barrier.
  int64_t end = program.getMakespan().value_or(0);
  int64_t last = std::max<int64_t>(0, end - scheduling::getKernelEnd());
  auto addEnd = [&](std::string index, int64_t from, int64_t to) {
    instructions.push_back(
        {{"index", std::move(index)},
         {"history", json::object()},
         {"tpe", "Core"},
         {"contexts", json::array({"PeCore"})},
         {"lifetime", {{"begin", from}, {"end", to}}},
         {"input_tensors", json::array()},
         {"output_tensors", json::array()},
         {"description", ""},
         {"util",
          {{"total_util", 0.0}, {"base_util", 0.0}, {"efficiency", 0.0}}},
         {"scheduler_node_index", nullptr},
         {"after", json::array()},
         {"cost",
          {{"cycles", to - from},
           {"formula", to == from ? std::string("0")
                                  : "end " + std::to_string(to - from)}}}});
  };
  addEnd(std::to_string(next), last, last);
  addEnd("ExplicitSync(0)", last, end);
  json schedule = json::object();
  schedule["title"] = "Schedule";
  schedule["total_memory"] = int64_t(machine::dmSliceBytes) * slicesOfChip;
  schedule["page_size"] = pageBytesOfSlice * slicesOfChip;
  schedule["instructions"] = std::move(instructions);
  schedule["tensors"] = writeTensors();
  schedule["kernel"] = program.getSymName().str();
  schedule["makespan"] = end;
  schedule["lower_bound"] = program.getLowerBound().value_or(0);
  schedule["waits"] = std::move(waits);
  schedule["loops"] = std::move(loops);
  schedule["operands"] = writeOperands();
  return schedule;
}

json ScheduleWriter::writeOperands() {
  json operands = json::array();
  for (auto argument : program.getBody().front().getOps<ArgumentOp>())
    operands.push_back(
        {{"index", std::to_string(numbers.at(argument.getResult()))},
         {"name", argument.getName().str()},
         {"role", stringifyRole(argument.getRole()).str()},
         {"size", argument.getResult().getType().getBytes()}});
  return operands;
}

json ScheduleWriter::writeTensors() {
  json tensors = json::array();
  for (auto buffer : program.getBody().front().getOps<BufferOp>())
    tensors.push_back(writeTensor(buffer));
  return tensors;
}

json compile::makeSchedule(ProgramOp program) {
  return ScheduleWriter(program).write();
}

std::string furiosa::dumpSchedule(ProgramOp program) {
  json schedule = compile::makeSchedule(program);
  return schedule.is_null() ? std::string() : dumpJson(schedule, 1) + "\n";
}

std::string furiosa::dumpLifetimes(ProgramOp program) {
  json lifetimes = json::object();
  size_t number = 0;
  for (Operation &op : program.getBody().front()) {
    if (!isa<ArgumentOp, BufferOp>(op))
      continue;
    ++number;
    auto buffer = dyn_cast<BufferOp>(op);
    if (!buffer)
      continue;
    lir::MemType type = buffer.getResult().getType();
    llvm::ArrayRef<int64_t> live = *buffer.getLive();
    lifetimes[std::to_string(number - 1)] = {
        {"buffer_type", getBufferType(type.getTier()).first.str()},
        {"begin", live[0]},
        {"end", live[1]},
        {"address", buffer.getAddress().value_or(0)},
        {"size", type.getBytes()}};
  }
  return dumpJson(lifetimes, 1) + "\n";
}
