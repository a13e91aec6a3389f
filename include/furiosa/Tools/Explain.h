//===- Explain.h - The explain command --------------------------*- C++ -*-===//

#ifndef FURIOSA_TOOLS_EXPLAIN_H
#define FURIOSA_TOOLS_EXPLAIN_H

namespace furiosa {

/// `furiosa-opt-mlir explain --axes "A = 8, B = 4" MAPPING …`: shows a mapping
/// to a person, or how a stream visits it. Faults point at the character.
/// `argv[0]` is the name shown in messages.
int explainMain(int argc, char **argv);

} // namespace furiosa

#endif // FURIOSA_TOOLS_EXPLAIN_H
