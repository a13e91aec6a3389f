//===- GivenOptions.cpp - What a command line says twice or not -----------===//

#include "furiosa/Support/GivenOptions.h"

#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace furiosa {

static std::string spell(StringRef name) {
  return ((name.size() == 1 ? "-" : "--") + name).str();
}

std::string
findOptionFault(ArrayRef<const cl::opt<std::string> *> named) {
  // The map is in no order that could be shown.
  StringRef repeated;
  for (const auto &entry : cl::getRegisteredOptions()) {
    const cl::Option *option = entry.second;
    bool takesOne = option->getNumOccurrencesFlag() == cl::Optional ||
                    option->getNumOccurrencesFlag() == cl::Required;
    // Flags say the same again. The names of an enumeration are registered for
    // an option without one.
    if (takesOne && option->hasArgStr() && option->getNumOccurrences() > 1 &&
        option->getValueExpectedFlag() == cl::ValueRequired &&
        (repeated.empty() || option->ArgStr < repeated))
      repeated = option->ArgStr;
  }
  if (!repeated.empty())
    return spell(repeated) + " may only occur zero or one times";
  for (const cl::opt<std::string> *option : named)
    if (option->getNumOccurrences() != 0 && option->empty())
      return spell(option->ArgStr) + " needs a " +
             (option->ValueStr == "name" ? "name" : "path");
  return "";
}

} // namespace furiosa
