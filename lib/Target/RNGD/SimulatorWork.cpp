//===- SimulatorWork.cpp - When commands have their effect ----------------===//
//
// Keeps account of what is under way, execs by context and DMAs by tag, lets
// their effects happen, and finds those that no wait keeps apart.
//
//===----------------------------------------------------------------------===//

#include "SimulatorQueue.h"

#include "EncodingSupport.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::sim;
using llvm::Error;
using llvm::Twine;

Error ProcessingElement::spend(uint64_t steps) {
  if (steps > machine.options.maxSteps ||
      machine.result.steps > machine.options.maxSteps - steps)
    return makeError("the command would take the simulation beyond " +
                     Twine(machine.options.maxSteps) + " steps");
  machine.result.steps += steps;
  return Error::success();
}

Error ProcessingElement::start(Work work, size_t &slot) {
  // Finished work at the end is dropped, so that long loops stay small.
  while (!works.empty() && works.back().isDone && !isUnderWay(works.back()))
    works.pop_back();
  work.instruction = work.footprint.instruction = position;
  if (work.fill)
    work.footprint.exec = std::make_shared<const ExecFootprint>(*work.fill);
  else if (work.exec && !work.footprint.exec)
    work.footprint.exec = std::make_shared<const ExecFootprint>(*work.exec);
  if (Error error = checkBanks(work))
    return error;
  forOthers(work, [&](Work &other) {
    if (other.isDone)
      work.beside.push_back(other.footprint);
  });
  slot = works.size();
  works.push_back(std::move(work));
  if (machine.options.timing == SimulationOptions::Timing::Early)
    return perform(works.back());
  return performSome();
}

Error ProcessingElement::performSome() {
  if (machine.options.timing != SimulationOptions::Timing::Random)
    return Error::success();
  llvm::SmallVector<size_t, 8> underWay;
  for (size_t slot : contexts)
    if (slot != idle)
      underWay.push_back(slot);
  for (size_t slot : tags)
    if (slot != idle)
      underWay.push_back(slot);
  // One after the other, each drawn from those that are left.
  while (!underWay.empty()) {
    uint64_t drawn = machine.drawRandom();
    size_t &slot = underWay[(drawn >> 1) % underWay.size()];
    if (drawn & 1)
      if (Error error = perform(works[slot]))
        return error;
    slot = underWay.back();
    underWay.pop_back();
  }
  return Error::success();
}

void ProcessingElement::forOthers(const Work &work,
                                  llvm::function_ref<void(Work &)> callback) {
  auto visit = [&](size_t slot) {
    if (slot != idle && &works[slot] != &work)
      callback(works[slot]);
  };
  llvm::for_each(contexts, visit);
  llvm::for_each(tags, visit);
}

Error ProcessingElement::checkBanks(const Work &work) {
  auto isLong = [](const Work &work) {
    return work.exec &&
           work.footprint.exec->sameBankRun >= machine::dmSameBankAccesses;
  };
  const Work *found = nullptr;
  forOthers(work, [&](Work &other) {
    if ((isLong(work) && other.isTransfer()) ||
        (work.isTransfer() && isLong(other)))
      found = &other;
  });
  if (!found)
    return Error::success();
  return makeError(Twine(work.isTransfer() ? "dmaw: command "
                                           : "exec: the DMA of command ") +
                   Twine(found->instruction) +
                   (work.isTransfer() ? " still runs, and it"
                                      : " is still under way, and this") +
                   " hits one bank of the data memory " +
                   Twine(machine::dmSameBankAccesses) +
                   " times in a row or more; a wait is missing (MM-40)");
}

Error ProcessingElement::checkRaces(Work &work) {
  if (!machine.options.refuseRaces)
    return Error::success();
  unsigned pe = program.cluster * machine::pesPerCluster + index;
  machine.shared.add(pe, work.footprint);
  for (const Footprint &other : work.beside) {
    auto text = findConflict(work.footprint, other, pe, [&](unsigned operand) {
      return machine.operands.name(operand).str();
    });
    if (text)
      return makeError(
          "commands " + Twine(std::min(work.instruction, other.instruction)) +
          " and " + Twine(std::max(work.instruction, other.instruction)) +
          " both use " + *text +
          ", one of them writing; a wait is missing (MM-39)");
  }
  work.beside.clear();
  forOthers(work, [&](Work &other) {
    if (other.isDone)
      return;
    // Loops do the same again and again beside a long command.
    for (Footprint &known : other.beside) {
      if (known.instruction != work.instruction)
        continue;
      if (known.exec && known.exec == work.footprint.exec)
        return;
      if (known.dma && work.footprint.dma) {
        auto both = std::make_shared<DmaFootprint>(*known.dma);
        both->insert(*work.footprint.dma);
        known.dma = std::move(both);
        return;
      }
    }
    other.beside.push_back(work.footprint);
  });
  // What comes later has waited for it.
  if (!isUnderWay(work))
    work.footprint = {};
  return Error::success();
}

Error ProcessingElement::applyExec(const Work &work, Slices all) {
  if (work.exec->vector && work.exec->vector->sliceReduce)
    return runReducingExec(work.exec.get(), all,
                           static_cast<unsigned>(index * machine::slicesPerPE),
                           machine.options.plainContraction);
  for (size_t k = 0; k < slices.size(); ++k)
    if (Error error =
            runExec(*work.exec, all,
                    static_cast<unsigned>(index * machine::slicesPerPE + k),
                    machine.options.plainContraction))
      return makeError("slice " + Twine(k) + ": " +
                       llvm::toString(std::move(error)));
  return Error::success();
}

Error ProcessingElement::perform(Work &work) {
  if (work.isDone)
    return Error::success();
  if (work.isExchange()) {
    due = &work - works.data();
    return Error::success();
  }
  work.isDone = true;
  unsigned pe = program.cluster * machine::pesPerCluster + index;
  auto effect = [&]() -> Error {
    if (work.isTransfer()) {
      auto footprint = std::make_shared<DmaFootprint>();
      if (Error error = runDma(
              work.descriptor,
              [&](unsigned pe) { return machine.getSlices(pe); },
              machine.operands, *footprint, pe))
        return error;
      work.footprint.dma = std::move(footprint);
    }
    if (Error error = checkRaces(work))
      return error;
    if (work.exec)
      return applyExec(work, slices);
    if (work.fill)
      for (Slice *slice : slices)
        runFill(*work.fill, slice->dm);
    return Error::success();
  };
  Error error = effect();
  if (!error)
    return Error::success();
  // The effect belongs to the command that started it.
  if (work.instruction == position)
    return error;
  return makeError("effect of command " + Twine(work.instruction) + ": " +
                   llvm::toString(std::move(error)));
}

/// Whether groups of slices that reach beyond a PE agree.
static bool haveSameGroups(const Work &a, const Work &b) {
  if (a.hasLargeGroups() != b.hasLargeGroups())
    return false;
  if (!a.hasLargeGroups())
    return true;
  const SliceReduceConfig &one = *a.exec->vector->sliceReduce;
  const SliceReduceConfig &other = *b.exec->vector->sliceReduce;
  return one.row == other.row && one.slices == other.slices &&
         one.mask == other.mask && one.isFirst == other.isFirst &&
         one.loops == other.loops;
}

Error ProcessingElement::exchange(
    llvm::ArrayRef<std::unique_ptr<ProcessingElement>> elements) {
  // The exec is one for all PEs: it begins when the last of them has issued it,
  // and ends for all at once.
  ProcessingElement &first = *elements.front();
  auto report = [&](const Twine &message) {
    const Work *work = first.dueExchange();
    return first.fail(
        work ? work->instruction : first.position,
        makeError("exec: " +
                  Twine(work && !work->exec->fetch.exchange
                            ? "VectorRouteUnitMainContext.route_group_size: "
                            : "FetchUnit.topology: ") +
                  message));
  };
  llvm::SmallVector<Slice *, 256> all;
  for (const auto &element : elements) {
    const Work *work = element->dueExchange();
    if (!work || !first.dueExchange())
      return report("PE " + Twine((work ? first : *element).index) +
                    " takes no part in an exchange of PE " +
                    Twine((work ? *element : first).index));
    // The parts of slice numbers are counted from slice 0 on.
    if (element->index != all.size() / machine::slicesPerPE)
      return report("not yet supported: an exchange without PE " +
                    Twine(all.size() / machine::slicesPerPE));
    const FetchConfig &fetch = work->exec->fetch;
    const FetchConfig &common = first.dueExchange()->exec->fetch;
    bool agrees =
        work->exec->context == first.dueExchange()->exec->context &&
        fetch.exchange.has_value() == common.exchange.has_value() &&
        (!fetch.exchange || (fetch.exchange->agrees(*common.exchange) &&
                             fetch.packets == common.packets &&
                             fetch.packetBytes == common.packetBytes)) &&
        haveSameGroups(*work, *first.dueExchange());
    if (!agrees)
      return report("PE " + Twine(element->index) +
                    " exchanges packets in another way");
    all.append(element->slices.begin(), element->slices.end());
  }
  const ExecConfig &config = *first.dueExchange()->exec;
  bool hasLargeGroups = first.dueExchange()->hasLargeGroups();
  if (config.fetch.exchange && all.size() != config.fetch.exchange->slices())
    return report("outer_slice_log_size: the parts of the slices multiply to " +
                  Twine(config.fetch.exchange->slices()) + ", " +
                  Twine(all.size()) + " slices take part");
  if (hasLargeGroups && all.size() % config.vector->sliceReduce->slices != 0)
    return report("groups of " + Twine(config.vector->sliceReduce->slices) +
                  " slices, " + Twine(all.size()) + " take part");
  llvm::SmallVector<const ExecConfig *, 4> configs;
  size_t instruction = first.dueExchange()->instruction;
  for (const auto &element : elements) {
    Work &work = element->works[element->due];
    configs.push_back(work.exec.get());
    element->due = idle;
    work.isDone = true;
    if (Error error = element->checkRaces(work))
      return element->fail(work.instruction, std::move(error));
    if (hasLargeGroups)
      continue;
    if (Error error = element->applyExec(work, all))
      return element->fail(work.instruction, std::move(error));
  }
  // The slices of a group may lie in several PEs; all read before any writes.
  if (hasLargeGroups)
    if (Error error = runReducingExec(configs, all, /*first=*/0,
                                      first.machine.options.plainContraction))
      return first.fail(instruction, std::move(error));
  return Error::success();
}

Error ProcessingElement::finishAll() {
  for (Work &work : works) {
    if (Error error = perform(work))
      return fail(position, std::move(error));
    if (due != idle)
      return Error::success();
  }
  for (auto &bank : unused)
    if (!bank.empty())
      return fail(bank.begin()->second,
                  makeError(toString(bank.begin()->first) +
                            " is written, but no exec follows"));
  return Error::success();
}
