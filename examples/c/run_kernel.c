/* Runs the first kernel of an EDF file through the C API, as a runtime would:
 * every input cell gets the low bits of its number, and the first cells of each
 * result are printed.
 *
 *   run_kernel FILE.edf
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

static unsigned bits(FuriosaElementType type) {
  switch (type) {
  case FURIOSA_I4:
  case FURIOSA_F4E2M1:
    return 4;
  case FURIOSA_I16:
  case FURIOSA_BF16:
    return 16;
  case FURIOSA_I32:
  case FURIOSA_F32:
    return 32;
  default:
    return 8;
  }
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
  printf("%s %.*s: %u bits [", roles[operand.role], (int)operand.name.length,
         operand.name.data, bits(operand.elementType));
  for (size_t axis = 0; axis < operand.rank; ++axis) {
    FuriosaStringRef name;
    uint64_t extent;
    check(furiosaKernelGetAxis(kernel, index, axis, &name, &extent));
    printf("%s%.*s = %" PRIu64, axis ? ", " : "", (int)name.length, name.data,
           extent);
  }
  printf("]\n");

  buffer->sizeInBytes = operand.sizeInBytes;
  buffer->data = allocate(operand.sizeInBytes, 1);
  if (operand.role == FURIOSA_OUTPUT)
    return;
  uint64_t cells;
  check(furiosaKernelGetNumCells(kernel, index, &cells));
  uint32_t *codes = allocate(cells, sizeof(uint32_t));
  uint32_t mask = (uint32_t)((1ull << bits(operand.elementType)) - 1);
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
  if (argc != 2) {
    fprintf(stderr, "usage: %s FILE.edf\n", argv[0]);
    return 2;
  }
  FuriosaBinary binary;
  check(furiosaBinaryCreateFromFile(argv[1], &binary));
  FuriosaKernel kernel = furiosaBinaryGetKernel(binary, 0);
  FuriosaStringRef name = furiosaKernelGetName(kernel);
  printf("kernel %.*s, makespan %" PRIu64 " cycles\n", (int)name.length,
         name.data, furiosaKernelGetMakespan(kernel));

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
