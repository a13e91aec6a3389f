//===- TraceDump.cpp - Schedules for trace viewers ------------------------===//
//
// The trace event format, which Perfetto and chrome://tracing open.
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "ScheduleDump.h"

#include "furiosa/Target/RNGD/Machine.h"
#include "furiosa/Tools/Dumps.h"

#include <map>

using namespace furiosa;
using json = nlohmann::ordered_json;
namespace machine = furiosa::rngd::machine;

namespace {
/// One line of the trace, from the top.
enum Track : int { Queue = 1, Dma, Main, Sub, Core };
} // namespace

static constexpr std::pair<Track, const char *> trackNames[] = {
    {Queue, "Queue"},
    {Dma, "DMA"},
    {Main, "Main"},
    {Sub, "Sub"},
    {Core, "Core"}};

static Track getTrack(const std::string &tpe) {
  if (tpe == "Main")
    return Main;
  if (tpe == "Sub")
    return Sub;
  return tpe == "Core" ? Core : Dma;
}

/// Traces count microseconds; chip cycles are static cycles at 1 GHz.
static double getTime(int64_t cycle) {
  return double(cycle) / double(machine::clockMHz);
}

/// An event of `phase` on a track at a cycle.
static json makeEvent(const char *phase, std::string name, Track track,
                      int64_t cycle) {
  return {{"name", std::move(name)}, {"cat", "schedule"}, {"ph", phase},
          {"ts", getTime(cycle)},    {"pid", 1},          {"tid", int(track)}};
}

static json makeSpan(std::string name, Track track, const json &lifetime) {
  int64_t begin = lifetime["begin"], end = lifetime["end"];
  json event = makeEvent("X", std::move(name), track, begin);
  event["dur"] = getTime(end - begin);
  return event;
}

static void addNames(json &events, const std::string &kernel) {
  auto add = [&](const char *what, Track track, json arguments) {
    events.push_back({{"name", what},
                      {"ph", "M"},
                      {"pid", 1},
                      {"tid", int(track)},
                      {"args", std::move(arguments)}});
  };
  add("process_name", Queue, {{"name", kernel}});
  for (auto [track, name] : trackNames) {
    add("thread_name", track, {{"name", name}});
    add("thread_sort_index", track, {{"sort_index", int(track)}});
  }
}

/// Bytes of a slice that live, at each cycle in which that changes.
static void addMemory(json &events, const json &tensors) {
  constexpr int64_t slices = machine::clusters * machine::slicesPerCluster;
  std::map<std::string, std::map<int64_t, int64_t>> changes;
  for (const json &tensor : tensors) {
    int64_t bytes = int64_t(tensor["size"]) / slices;
    std::map<int64_t, int64_t> &change = changes[tensor["buffer_type"]];
    change[tensor["lifetime"]["begin"]] += bytes;
    change[tensor["lifetime"]["end"]] -= bytes;
  }
  for (const auto &[memory, change] : changes) {
    int64_t live = 0;
    for (auto [cycle, by] : change) {
      live += by;
      json event = makeEvent("C", memory + " bytes", Queue, cycle);
      event["args"] = {{"live", live}};
      events.push_back(std::move(event));
    }
  }
}

std::string furiosa::dumpTrace(resource::ProgramOp program) {
  json schedule = compile::makeSchedule(program);
  if (schedule.is_null())
    return "";
  json events = json::array();
  addNames(events, schedule["kernel"]);
  std::map<std::string, const json *> byIndex;
  for (const json &instruction : schedule["instructions"])
    byIndex[instruction["index"]] = &instruction;
  uint64_t flows = 0;
  for (const json &instruction : schedule["instructions"]) {
    std::string index = instruction["index"], tpe = instruction["tpe"];
    Track track = getTrack(tpe);
    json span = makeSpan(tpe == "Core" ? index : tpe + " " + index, track,
                         instruction["lifetime"]);
    span["args"] = {{"contexts", instruction["contexts"]},
                    {"cost", instruction["cost"]["formula"]},
                    {"inputs", instruction["input_tensors"]},
                    {"outputs", instruction["output_tensors"]},
                    {"description", instruction["description"]}};
    events.push_back(std::move(span));
    // An arrow from each command that it depends on; loops have no span.
    for (const json &before : instruction["after"]) {
      auto it = byIndex.find(before);
      if (it == byIndex.end())
        continue;
      const json &from = (*it->second)["lifetime"];
      // An arrow begins in its span, which ends in front of the last cycle.
      int64_t last =
          std::max<int64_t>(int64_t(from["begin"]), int64_t(from["end"]) - 1);
      json start =
          makeEvent("s", "after", getTrack((*it->second)["tpe"]), last);
      json finish =
          makeEvent("f", "after", track, instruction["lifetime"]["begin"]);
      start["id"] = finish["id"] = ++flows;
      finish["bp"] = "e";
      events.push_back(std::move(start));
      events.push_back(std::move(finish));
    }
  }
  for (const json &wait : schedule["waits"]) {
    if (wait["lifetime"]["begin"] == wait["lifetime"]["end"])
      continue;
    json span = makeSpan("wait for " + std::string(wait["instruction"]), Queue,
                         wait["lifetime"]);
    span["args"] = {{"engine", wait["engine"]}, {"tag", wait["tag"]}};
    events.push_back(std::move(span));
  }
  addMemory(events, schedule["tensors"]);
  json trace = {{"traceEvents", std::move(events)},
                {"displayTimeUnit", "ns"},
                {"otherData",
                 {{"kernel", schedule["kernel"]},
                  {"makespan", schedule["makespan"]},
                  {"lower_bound", schedule["lower_bound"]}}}};
  return compile::dumpJson(trace, 1) + "\n";
}
