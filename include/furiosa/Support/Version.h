//===- Version.h - What this is, and how new --------------------*- C++ -*-===//

#ifndef FURIOSA_SUPPORT_VERSION_H
#define FURIOSA_SUPPORT_VERSION_H

/// As in CMakeLists.txt and the man pages; a test compares them.
#define FURIOSA_VERSION "0.1.0"

namespace furiosa {

/// Makes --version say the version of this program, and of LLVM.
void announceVersion();

} // namespace furiosa

#endif // FURIOSA_SUPPORT_VERSION_H
