//===- Compile.h - The compile command --------------------------*- C++ -*-===//

#ifndef FURIOSA_TOOLS_COMPILE_H
#define FURIOSA_TOOLS_COMPILE_H

namespace furiosa {

/// `furiosa-opt-mlir compile FILE… -o DIR [--release R]`: kernels to EDF
/// files. `argv[0]` is the name shown in messages.
int compileMain(int argc, char **argv);

} // namespace furiosa

#endif // FURIOSA_TOOLS_COMPILE_H
