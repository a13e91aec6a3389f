/* Runs a kernel of an EDF file through the C API, as a runtime would: every
 * input cell gets the low bits of its number, and the first cells of each
 * result are printed. Of several kernels one has to be named.
 *
 *   run_kernel FILE.edf [KERNEL]
 */

#include "furiosa-c/EDF.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const roles[] = {"input", "output", "inout"};

/* Ends the program where a call failed. */
static void check(FuriosaError error) {
  if (!furiosaErrorIsFailure(error))
    return;
  FuriosaStringRef message = furiosaErrorGetMessage(error);
  fprintf(stderr, "error: %.*s\n", (int)message.length, message.data);
  furiosaErrorDestroy(error);
  exit(1);
}

static void print(FuriosaStringRef text) {
  fwrite(text.data, 1, text.length, stdout);
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) {
    fprintf(stderr, "error: out of memory\n");
    exit(1);
  }
  return memory;
}

/* Prints what the operand is; an input is filled. */
static void bind(FuriosaKernel kernel, size_t index, FuriosaBuffer *buffer) {
  FuriosaOperand operand;
  check(furiosaKernelGetOperand(kernel, index, &operand));
  printf("%s ", roles[operand.role]);
  print(operand.name);
  printf(": ");
  print(furiosaElementTypeGetName(operand.elementType));
  printf(" [");
  for (size_t axis = 0; axis < operand.rank; ++axis) {
    FuriosaStringRef name;
    uint64_t extent;
    check(furiosaKernelGetAxis(kernel, index, axis, &name, &extent));
    printf("%s%.*s = %" PRIu64, axis ? ", " : "", (int)name.length, name.data,
           extent);
  }
  printf("], chip [");
  print(operand.chipMapping);
  printf("], element [");
  print(operand.elementMapping);
  printf("]\n");

  buffer->sizeInBytes = operand.sizeInBytes;
  buffer->data = allocate(operand.sizeInBytes, 1);
  if (operand.role == FURIOSA_OUTPUT)
    return;
  uint64_t cells;
  check(furiosaKernelGetNumCells(kernel, index, &cells));
  uint32_t *codes = allocate(cells, sizeof(uint32_t));
  unsigned bits = furiosaElementTypeGetBits(operand.elementType);
  uint32_t mask = (uint32_t)((1ull << bits) - 1);
  for (uint64_t i = 0; i < cells; ++i)
    codes[i] = (uint32_t)i & mask;
  check(furiosaKernelPack(kernel, index, codes, cells, buffer->data,
                          buffer->sizeInBytes));
  free(codes);
}

/* Prints the first cells of a result. */
static void show(FuriosaKernel kernel, size_t index, FuriosaBuffer *buffer) {
  FuriosaOperand operand;
  check(furiosaKernelGetOperand(kernel, index, &operand));
  if (operand.role == FURIOSA_INPUT)
    return;
  uint64_t cells;
  check(furiosaKernelGetNumCells(kernel, index, &cells));
  uint32_t *codes = allocate(cells, sizeof(uint32_t));
  check(furiosaKernelUnpack(kernel, index, buffer->data, buffer->sizeInBytes,
                            codes, cells));
  printf("%.*s =", (int)operand.name.length, operand.name.data);
  for (uint64_t i = 0; i < cells && i < 8; ++i)
    printf(" %" PRIu32, codes[i]);
  printf("%s\n", cells > 8 ? " ..." : "");
  free(codes);
}

int main(int argc, char **argv) {
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: %s FILE.edf [KERNEL]\n", argv[0]);
    return 2;
  }
  FuriosaBinary binary;
  check(furiosaBinaryCreateFromFile(argv[1], &binary));
  for (size_t i = 0; i < furiosaBinaryGetNumKernels(binary); ++i) {
    FuriosaKernel kernel = furiosaBinaryGetKernel(binary, i);
    printf("kernel ");
    print(furiosaKernelGetName(kernel));
    printf(", makespan %" PRIu64 " cycles\n", furiosaKernelGetMakespan(kernel));
  }
  FuriosaKernel kernel;
  check(furiosaBinaryFindKernel(binary, argc == 3 ? argv[2] : NULL, &kernel));

  size_t count = furiosaKernelGetNumOperands(kernel);
  FuriosaBuffer *buffers = allocate(count, sizeof(FuriosaBuffer));
  for (size_t i = 0; i < count; ++i)
    bind(kernel, i, &buffers[i]);
  check(furiosaKernelRun(kernel, buffers, count, NULL));
  for (size_t i = 0; i < count; ++i) {
    show(kernel, i, &buffers[i]);
    free(buffers[i].data);
  }
  free(buffers);
  furiosaBinaryDestroy(binary);
  return 0;
}
