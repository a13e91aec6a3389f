//===- Colours.h - When programs colour what they say -----------*- C++ -*-===//

#ifndef FURIOSA_SUPPORT_COLOURS_H
#define FURIOSA_SUPPORT_COLOURS_H

namespace furiosa {

/// From now on LLVM's `WithColor`, which prints diagnostics, colours what goes
/// to a terminal that can show it, unless `NO_COLOR` is set to something; the
/// flag `--color` decides either way.
void chooseColours();

/// Whether standard error is a terminal that takes control sequences.
bool isTerminalOnStandardError();

} // namespace furiosa

#endif // FURIOSA_SUPPORT_COLOURS_H
