//===- ScheduleDump.h - Schedules as JSON -----------------------*- C++ -*-===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_SCHEDULEDUMP_H
#define FURIOSA_LIB_TOOLS_COMPILE_SCHEDULEDUMP_H

#include "furiosa/Dialect/Resource/IR/Resource.h"

#include <nlohmann/json.hpp>

namespace furiosa::compile {

/// The schedule of a scheduled program in the form of docs/schedule.md; null,
/// with an error emitted, if the cycles of a command do not fit.
nlohmann::ordered_json makeSchedule(resource::ProgramOp program);

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_SCHEDULEDUMP_H
