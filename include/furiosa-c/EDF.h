/*===- furiosa-c/EDF.h - C API to kernel binaries -----------------*- C -*-===*\
|*                                                                            *|
|* Load an EDF file, look at its kernels, bind buffers and run. What a        *|
|* runtime links: no MLIR behind it. Running means simulating here; results   *|
|* are those of the chip, bit for bit.                                        *|
|*                                                                            *|
|* Objects are handles. A function that may fail returns an error, or a null  *|
|* handle on success; every error must be destroyed. Distinct kernels may be  *|
|* used from distinct threads; one kernel may run in several threads at once  *|
|* with buffers of their own.                                                 *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef FURIOSA_C_EDF_H
#define FURIOSA_C_EDF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this interface; grows when functions are added. */
#define FURIOSA_C_API_VERSION 2
uint32_t furiosaGetApiVersion(void);

/** Bytes that need not end with a zero, and may hold one. */
typedef struct FuriosaStringRef {
  const char *data;
  size_t length;
} FuriosaStringRef;

typedef struct FuriosaError {
  void *ptr;
} FuriosaError;

typedef struct FuriosaBinary {
  void *ptr;
} FuriosaBinary;

/** A kernel of a binary; lives as long as the binary. */
typedef struct FuriosaKernel {
  const void *ptr;
} FuriosaKernel;

/*===-- Errors ------------------------------------------------------------===*/

/** Whether `error` is one, that is not null. */
int furiosaErrorIsFailure(FuriosaError error);
/** What went wrong, with section and offset where a file is damaged, or with
 *  cluster, PE and command where a run failed. Lives as long as the error. */
FuriosaStringRef furiosaErrorGetMessage(FuriosaError error);
/** A null error is fine. */
void furiosaErrorDestroy(FuriosaError error);

/*===-- Binaries ----------------------------------------------------------===*/

/** Reads and checks `size` bytes of an EDF file; they are copied. */
FuriosaError furiosaBinaryCreate(const void *bytes, size_t size,
                                 FuriosaBinary *binary);
/** The same from the file at `path`, which may be a pipe ("/dev/stdin"). */
FuriosaError furiosaBinaryCreateFromFile(const char *path,
                                         FuriosaBinary *binary);
/** A null binary is fine. */
void furiosaBinaryDestroy(FuriosaBinary binary);

size_t furiosaBinaryGetNumKernels(FuriosaBinary binary);
/** A null kernel where there is none of that index. */
FuriosaKernel furiosaBinaryGetKernel(FuriosaBinary binary, size_t index);
/** The kernel called `name` ("module::function"), or the only one whose last
 *  part, behind "::", it is; for a null or empty `name` the only kernel. The
 *  error lists the names that there are. Since version 2. */
FuriosaError furiosaBinaryFindKernel(FuriosaBinary binary, const char *name,
                                     FuriosaKernel *kernel);

/*===-- Kernels -----------------------------------------------------------===*/

/** "module::function", empty where the file keeps no names. */
FuriosaStringRef furiosaKernelGetName(FuriosaKernel kernel);
/** Static estimate in cycles at 1 GHz; 0 where the file keeps no schedule. */
uint64_t furiosaKernelGetMakespan(FuriosaKernel kernel);

/** Arguments in the order of the kernel's text, then results. */
size_t furiosaKernelGetNumOperands(FuriosaKernel kernel);

typedef enum FuriosaRole {
  FURIOSA_INPUT = 0,
  FURIOSA_OUTPUT = 1,
  /** An argument that the kernel writes. */
  FURIOSA_INOUT = 2
} FuriosaRole;

/** Values are those of EDF files. */
typedef enum FuriosaElementType {
  FURIOSA_I4 = 0,
  FURIOSA_I8 = 2,
  FURIOSA_I16 = 4,
  FURIOSA_I32 = 5,
  FURIOSA_U8 = 6,
  FURIOSA_F4E2M1 = 7,
  FURIOSA_F8E4M3 = 8,
  FURIOSA_F8E5M2 = 9,
  FURIOSA_BF16 = 10,
  FURIOSA_F32 = 11
} FuriosaElementType;

/** "i8", "f8e4m3"; empty for a value that is none. Since version 2. */
FuriosaStringRef furiosaElementTypeGetName(FuriosaElementType type);
/** Bits of a cell: 4, 8, 16, 32; 0 for a value that is none. Since version 2.
 */
unsigned furiosaElementTypeGetBits(FuriosaElementType type);

typedef struct FuriosaOperand {
  FuriosaStringRef name;
  FuriosaRole role;
  FuriosaElementType elementType;
  /** Bytes of the buffer in HBM. */
  uint64_t sizeInBytes;
  /** Axes of the array that a host holds, outermost first. */
  size_t rank;
  /** Which cell lies where, as the kernel writes it: "1", "I, J % 8". */
  FuriosaStringRef chipMapping, elementMapping;
} FuriosaOperand;

FuriosaError furiosaKernelGetOperand(FuriosaKernel kernel, size_t index,
                                     FuriosaOperand *operand);
/** Name and extent of one of the operand's `rank` axes. */
FuriosaError furiosaKernelGetAxis(FuriosaKernel kernel, size_t operand,
                                  size_t axis, FuriosaStringRef *name,
                                  uint64_t *extent);

/*===-- Arrays ------------------------------------------------------------===*/

/** Cells of an operand's array: the product of its extents. */
FuriosaError furiosaKernelGetNumCells(FuriosaKernel kernel, size_t operand,
                                      uint64_t *numCells);
/** Lays out a row-major array of `numCells` codes (the element's bits in the
 *  low bits of 32) as the `sizeInBytes` bytes of the operand's buffer. */
FuriosaError furiosaKernelPack(FuriosaKernel kernel, size_t operand,
                               const uint32_t *codes, uint64_t numCells,
                               void *buffer, uint64_t sizeInBytes);
/** The inverse of furiosaKernelPack. */
FuriosaError furiosaKernelUnpack(FuriosaKernel kernel, size_t operand,
                                 const void *buffer, uint64_t sizeInBytes,
                                 uint32_t *codes, uint64_t numCells);

/*===-- Running -----------------------------------------------------------===*/

/** The bytes of one operand in HBM. */
typedef struct FuriosaBuffer {
  void *data;
  uint64_t sizeInBytes;
} FuriosaBuffer;

/** Runs a kernel on one buffer per operand. Inputs are read, outputs are
 *  written in full, inouts both. A byte that the kernel leaves undefined keeps
 *  its value; `undefinedBytes`, if not null, takes their number per operand.
 *  On failure no buffer is changed. */
FuriosaError furiosaKernelRun(FuriosaKernel kernel,
                              const FuriosaBuffer *buffers, size_t numBuffers,
                              uint64_t *undefinedBytes);

#ifdef __cplusplus
}
#endif

#endif /* FURIOSA_C_EDF_H */
