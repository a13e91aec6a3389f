// Writes the kernel that it holds to standard output. A real program would hand
// the bytes to the runtime.

#include "add.h"

#include <cstdio>

int main() {
  return std::fwrite(add_edf, 1, add_edf_size, stdout) == add_edf_size ? 0 : 1;
}
