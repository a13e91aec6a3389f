//===- Artifacts.h - Files that compiling leaves ----------------*- C++ -*-===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_ARTIFACTS_H
#define FURIOSA_LIB_TOOLS_COMPILE_ARTIFACTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <system_error>

namespace furiosa::compile {

/// Whether a kernel's name can be that of a file: it is not empty, begins with
/// no dot and holds no slash and no zero byte.
bool isFileName(llvm::StringRef name);

/// Makes a folder and those around it; whoever may read files may read them.
std::error_code makeFolders(const llvm::Twine &path);

/// Writes the whole file or leaves the old one. A file that holds these bytes
/// already only becomes as new as it would be.
llvm::Error writeBytes(llvm::StringRef path, llvm::ArrayRef<uint8_t> bytes);
llvm::Error writeText(llvm::StringRef path, llvm::StringRef text);

/// `artifact: input`, escaped as make and ninja read it. A path with a line
/// break, which neither can name, is an error.
llvm::Expected<std::string> makeDependency(llvm::StringRef artifact,
                                           llvm::StringRef input);

/// `dir/name.d` for `dir/name.edf`.
std::string getDepfilePath(llvm::StringRef artifact);

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_ARTIFACTS_H
