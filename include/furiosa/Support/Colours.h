//===- Colours.h - When programs colour what they say -----------*- C++ -*-===//

#ifndef FURIOSA_SUPPORT_COLOURS_H
#define FURIOSA_SUPPORT_COLOURS_H

#include <cstddef>

namespace furiosa {

/// From now on LLVM's `WithColor`, which prints diagnostics, colours what goes
/// to a terminal that can show it, unless `NO_COLOR` is set to something; the
/// flag `--color` decides either way.
void chooseColours();

/// Whether standard error is a terminal that takes control sequences.
bool isTerminalOnStandardError();

/// How many columns it has; 80 if it does not say.
size_t getColumnsOfStandardError();

} // namespace furiosa

#endif // FURIOSA_SUPPORT_COLOURS_H
