//===- Colours.cpp - When programs colour what they say -------------------===//

#include "furiosa/Support/Colours.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;

namespace furiosa {

static bool isDumbTerminal() {
  std::optional<std::string> term = sys::Process::GetEnv("TERM");
  return !term || term->empty() || *term == "dumb";
}

void chooseColours() {
  WithColor::setAutoDetectFunction([](const raw_ostream &os) {
    cl::Option *option = cl::getRegisteredOptions().lookup("color");
    if (option && option->getNumOccurrences() != 0)
      return WithColor::defaultAutoDetectFunction()(os);
    std::optional<std::string> never = sys::Process::GetEnv("NO_COLOR");
    return (!never || never->empty()) && !isDumbTerminal() && os.has_colors();
  });
}

bool isTerminalOnStandardError() {
  return sys::Process::StandardErrIsDisplayed() && !isDumbTerminal();
}

size_t getColumnsOfStandardError() {
  winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return 80;
  return size.ws_col;
}

} // namespace furiosa
