/* Every function of the C API, on a kernel and on what is wrong with it. */

#include "furiosa-c/EDF.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int condition, const char *what) {
  if (condition)
    return;
  printf("FAILED: %s\n", what);
  ++failures;
}
#define EXPECT(condition) expect((condition), #condition)

/* Whether `error` is one whose message holds `text`; destroys it. */
static int says(FuriosaError error, const char *text) {
  FuriosaStringRef message = furiosaErrorGetMessage(error);
  char buffer[1024];
  size_t length = message.length < 1023 ? message.length : 1023;
  memcpy(buffer, message.data, length);
  buffer[length] = 0;
  int result = furiosaErrorIsFailure(error) && strstr(buffer, text) != NULL;
  if (!result)
    printf("found \"%s\", expected \"%s\"\n", buffer, text);
  furiosaErrorDestroy(error);
  return result;
}

static int succeeds(FuriosaError error) {
  int result = !furiosaErrorIsFailure(error);
  if (!result) {
    FuriosaStringRef message = furiosaErrorGetMessage(error);
    printf("%.*s\n", (int)message.length, message.data);
  }
  furiosaErrorDestroy(error);
  return result;
}

static int equals(FuriosaStringRef found, const char *expected) {
  return found.length == strlen(expected) &&
         memcmp(found.data, expected, found.length) == 0;
}

/* several: copies of 8 cells of i32 and of f32 to another type, and a kernel
   without arguments. */
static void testSeveral(const char *path) {
  FuriosaBinary binary;
  EXPECT(succeeds(furiosaBinaryCreateFromFile(path, &binary)));
  EXPECT(furiosaBinaryGetNumKernels(binary) == 3);
  FuriosaKernel kernel, same;
  EXPECT(succeeds(furiosaBinaryFindKernel(binary, "inner::wide", &kernel)));
  EXPECT(succeeds(furiosaBinaryFindKernel(binary, "wide", &same)));
  EXPECT(kernel.ptr != NULL && kernel.ptr == same.ptr);
  EXPECT(equals(furiosaKernelGetName(kernel), "package::inner::wide"));
  EXPECT(succeeds(furiosaBinaryFindKernel(binary, "narrow", &same)));
  EXPECT(same.ptr != NULL && kernel.ptr != same.ptr);
  EXPECT(says(furiosaBinaryFindKernel(binary, NULL, &same),
              "has several kernels; choose one: "));
  EXPECT(same.ptr == NULL);
  EXPECT(says(furiosaBinaryFindKernel(binary, "", &same), "choose one: "));
  EXPECT(says(furiosaBinaryFindKernel(binary, "other", &same),
              "has no kernel 'other'; it has "));

  FuriosaOperand operand;
  EXPECT(succeeds(furiosaKernelGetOperand(kernel, 0, &operand)));
  EXPECT(equals(furiosaElementTypeGetName(operand.elementType), "i32"));
  EXPECT(furiosaElementTypeGetBits(operand.elementType) == 32);
  EXPECT(equals(furiosaElementTypeGetName(FURIOSA_F8E4M3), "f8e4m3"));
  EXPECT(furiosaElementTypeGetBits(FURIOSA_F8E4M3) == 8);
  EXPECT(furiosaElementTypeGetBits(FURIOSA_I4) == 4);
  EXPECT(furiosaElementTypeGetBits((FuriosaElementType)12) == 0);
  EXPECT(equals(furiosaElementTypeGetName((FuriosaElementType)12), ""));

  int32_t a[8] = {0, 1, -1, 2147483647, -2147483647, 5, 6, 7}, r[8] = {0};
  FuriosaBuffer buffers[2] = {{a, sizeof(a)}, {r, sizeof(r)}};
  EXPECT(succeeds(furiosaKernelRun(kernel, buffers, 2, NULL)));
  EXPECT(memcmp(a, r, sizeof(a)) == 0);
  furiosaBinaryDestroy(binary);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  EXPECT(furiosaGetApiVersion() == FURIOSA_C_API_VERSION);

  /* Files that are none. */
  FuriosaBinary binary;
  EXPECT(says(furiosaBinaryCreateFromFile("no/such/file.edf", &binary),
              "No such file"));
  EXPECT(binary.ptr == NULL);
  furiosaBinaryDestroy(binary);
  EXPECT(says(furiosaBinaryCreate("hello", 5, &binary), "<memory>"));
  EXPECT(says(furiosaBinaryCreate(NULL, 0, &binary), "<memory>"));

  /* constant_add: i32 [A = 2048], one more in each cell. */
  EXPECT(succeeds(furiosaBinaryCreateFromFile(argv[1], &binary)));
  EXPECT(furiosaBinaryGetNumKernels(binary) == 1);
  EXPECT(furiosaBinaryGetKernel(binary, 1).ptr == NULL);
  FuriosaKernel kernel = furiosaBinaryGetKernel(binary, 0);
  EXPECT(equals(furiosaKernelGetName(kernel), "constant_add"));
  EXPECT(furiosaKernelGetMakespan(kernel) > 0);
  EXPECT(furiosaKernelGetNumOperands(kernel) == 2);

  FuriosaOperand in, out;
  EXPECT(succeeds(furiosaKernelGetOperand(kernel, 0, &in)));
  EXPECT(succeeds(furiosaKernelGetOperand(kernel, 1, &out)));
  EXPECT(says(furiosaKernelGetOperand(kernel, 2, &out), "no operand 2"));
  EXPECT(in.role == FURIOSA_INPUT && out.role == FURIOSA_OUTPUT);
  EXPECT(in.elementType == FURIOSA_I32 && in.rank == 1);
  EXPECT(in.sizeInBytes == 8192 && out.sizeInBytes == 8192);
  EXPECT(equals(in.chipMapping, "1") && equals(in.elementMapping, "A"));
  FuriosaStringRef axis;
  uint64_t extent = 0, cells = 0;
  EXPECT(succeeds(furiosaKernelGetAxis(kernel, 0, 0, &axis, &extent)));
  EXPECT(equals(axis, "A") && extent == 2048);
  EXPECT(says(furiosaKernelGetAxis(kernel, 0, 1, &axis, &extent), "no axis 1"));
  EXPECT(succeeds(furiosaKernelGetNumCells(kernel, 0, &cells)));
  EXPECT(cells == 2048);

  /* Arrays and buffers of the wrong size. */
  static uint32_t codes[2048], sums[2048];
  static unsigned char a[8192], r[8192];
  for (uint32_t i = 0; i < 2048; ++i)
    codes[i] = i * 2654435761u;
  EXPECT(says(furiosaKernelPack(kernel, 0, codes, 2047, a, 8192),
              "an array of 2047 cells, operand 0 has 2048"));
  EXPECT(says(furiosaKernelPack(kernel, 0, codes, 2048, a, 8191),
              "a buffer of 8191 bytes, operand 0 has 8192"));
  EXPECT(says(furiosaKernelUnpack(kernel, 1, r, 1, sums, 2048),
              "a buffer of 1 bytes"));
  FuriosaBuffer buffers[2] = {{a, 8192}, {r, 8191}};
  EXPECT(says(furiosaKernelRun(kernel, buffers, 1, NULL),
              "1 buffers, the kernel has 2 operands"));
  EXPECT(says(furiosaKernelRun(kernel, buffers, 2, NULL),
              "buffer 1 has 8191 bytes"));

  /* A run. */
  buffers[1].sizeInBytes = 8192;
  uint64_t undefined[2] = {7, 7};
  EXPECT(succeeds(furiosaKernelPack(kernel, 0, codes, 2048, a, 8192)));
  EXPECT(succeeds(furiosaKernelRun(kernel, buffers, 2, undefined)));
  EXPECT(undefined[0] == 0 && undefined[1] == 0);
  EXPECT(succeeds(furiosaKernelUnpack(kernel, 1, r, 8192, sums, 2048)));
  int equal = 1;
  for (uint32_t i = 0; i < 2048; ++i)
    equal &= sums[i] == codes[i] + 1;
  expect(equal, "every cell is one more");

  furiosaBinaryDestroy(binary);
  testSeveral(argv[2]);
  if (failures == 0)
    printf("all passed\n");
  return failures != 0;
}
