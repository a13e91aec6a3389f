//===- EDFReader.cpp - EDF files to kernels -------------------------------===//
//
// The container: header, section table, checks, and whole kernels. What is in
// the sections is read in EDFSections.cpp.
//
//===----------------------------------------------------------------------===//

#include "EDFFormat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <bitset>

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::edf;
using llvm::Twine;
namespace endian = llvm::support::endian;

bool SectionInfo::isPacked() const { return flags & packedFlag; }

std::string edf::describe(const SectionInfo &section, uint32_t kernels) {
  std::string shown;
  llvm::raw_string_ostream(shown).write_escaped(section.id);
  if (section.kernel == wholeFile)
    return shown;
  return kernels == 1 ? shown
                      : shown + " of kernel " + std::to_string(section.kernel);
}

llvm::ArrayRef<SectionInfo> edf::sectionsOf(const Reader &reader,
                                            uint32_t kernel) {
  llvm::ArrayRef<SectionInfo> sections = reader.sections();
  const SectionInfo *first = llvm::partition_point(
      sections, [&](const SectionInfo &s) { return s.kernel < kernel; });
  const SectionInfo *last = llvm::partition_point(
      sections, [&](const SectionInfo &s) { return s.kernel <= kernel; });
  return {first, last};
}

llvm::Expected<Reader> Reader::open(llvm::ArrayRef<uint8_t> bytes,
                                    llvm::StringRef fileName) {
  Reader reader;
  reader.data = bytes;
  reader.name = fileName.str();
  auto fail = [&](uint64_t offset, const Twine &text) {
    return makeError(fileName + ": offset " + Twine(offset) + ": " + text);
  };
  if (bytes.size() < magic.size() ||
      !llvm::equal(bytes.take_front(magic.size()), magic.bytes()))
    return fail(0, bytes.empty() ? "not an EDF file: it is empty"
                                 : "not an EDF file: wrong magic");
  // Before all else, so that a file of another version says so.
  if (bytes.size() >= versionOffset + 4) {
    uint16_t major = endian::read16le(bytes.data() + versionOffset);
    if (major == 0)
      return fail(versionOffset, "EDF version 0 is no longer read: compile the "
                                 "kernel again");
    if (major != majorVersion)
      return fail(versionOffset, "EDF version " + Twine(major) +
                                     " is too new; this reader knows version " +
                                     Twine(majorVersion));
  }
  if (bytes.size() < headerBytes)
    return fail(bytes.size(),
                "truncated: the header has " + Twine(headerBytes) + " bytes");
  reader.minor = endian::read16le(bytes.data() + versionOffset + 2);
  uint64_t fileSize = endian::read64le(bytes.data() + fileSizeOffset);
  if (fileSize > bytes.size())
    return fail(fileSizeOffset, "truncated: the file should have " +
                                    Twine(fileSize) + " bytes, it has " +
                                    Twine(bytes.size()));
  if (fileSize < bytes.size())
    return fail(fileSizeOffset, Twine(bytes.size() - fileSize) +
                                    " bytes follow the end of the file");
  uint32_t count = endian::read32le(bytes.data() + countOffset);
  if (count > (bytes.size() - headerBytes) / entryBytes)
    return fail(countOffset, "truncated: no room for a table of " +
                                 Twine(count) + " sections");
  uint32_t headerCrc = endian::read32le(bytes.data() + headerCrcOffset);
  uint32_t foundCrc = computeHeaderCrc(bytes, count * entryBytes);
  if (headerCrc != foundCrc)
    return fail(headerCrcOffset, "the CRC-32 of header and section table is " +
                                     hex(foundCrc) + ", the header says " +
                                     hex(headerCrc));
  reader.kernels = endian::read32le(bytes.data() + kernelsOffset);
  if (reader.kernels == 0)
    return fail(kernelsOffset, "the file holds no kernel");
  if (reader.kernels > count / numNeededSections)
    return fail(kernelsOffset, Twine(count) + " sections are too few for " +
                                   Twine(reader.kernels) + " kernels");

  uint64_t end = headerBytes + count * entryBytes;
  reader.table.reserve(count);
  // The known sections of the kernel that entries are at.
  std::bitset<numSections> seen;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t at = headerBytes + i * entryBytes;
    const uint8_t *entry = bytes.data() + at;
    SectionInfo section;
    section.id.assign(entry, entry + 4);
    section.flags = endian::read32le(entry + 4);
    section.kernel = endian::read32le(entry + 8);
    section.crc = endian::read32le(entry + 12);
    section.offset = endian::read64le(entry + 16);
    section.size = endian::read64le(entry + 24);
    section.unpackedSize = endian::read64le(entry + 32);
    std::string shown = describe(section, reader.kernels);
    const auto *known = llvm::find(sectionIds, llvm::StringRef(section.id));
    bool isKnown = known != std::end(sectionIds);
    if (!isKnown && !(section.flags & skippableFlag))
      return fail(at, "section '" + Twine(shown) +
                          "' is unknown and may not be skipped");
    if (section.flags & ~knownFlags)
      return fail(at + 4, "section " + Twine(shown) +
                              " has the unknown flags " +
                              hex(section.flags & ~knownFlags));
    if (section.isPacked() && section.id != "CNST")
      return fail(at + 4, "section " + Twine(shown) +
                              " is packed; only constants may be");
    if (section.id == "SCAL" && reader.minor == 0)
      return fail(at, "section " + Twine(shown) + " is none of version 1.0");
    bool belongsToAll = section.kernel == wholeFile;
    if (!belongsToAll && section.kernel >= reader.kernels)
      return fail(at + 8, "section " + Twine(shown) + ": the file has " +
                              Twine(reader.kernels) + " kernels");
    if (isKnown && belongsToAll)
      return fail(at + 8, "section " + Twine(shown) + " belongs to no kernel");
    if (!reader.table.empty() && section.kernel != reader.table.back().kernel) {
      if (section.kernel < reader.table.back().kernel)
        return fail(at + 8, "section " + Twine(shown) +
                                " is not in the order of kernels");
      seen.reset();
    }
    if (isKnown) {
      size_t index = known - std::begin(sectionIds);
      if (seen[index])
        return fail(at, "two sections " + Twine(shown));
      seen[index] = true;
    }
    // Sections follow each other without holes, so that no byte of a file is
    // outside the checks.
    uint64_t expected = llvm::alignTo(end, sectionAlignment);
    if (section.offset != expected)
      return fail(at + 16, "section " + Twine(shown) + " at offset " +
                               Twine(section.offset) +
                               ", expected it behind the one before at " +
                               Twine(expected));
    if (section.offset > bytes.size() ||
        section.size > bytes.size() - section.offset)
      return fail(at + 24, "truncated: section " + Twine(shown) + " has " +
                               Twine(section.size) + " bytes, " +
                               Twine(section.offset > bytes.size()
                                         ? 0
                                         : bytes.size() - section.offset) +
                               " are left");
    if (section.isPacked()
            ? section.unpackedSize / maxUnpackRatio > section.size
            : section.unpackedSize != section.size)
      return fail(at + 32,
                  "section " + Twine(shown) + " of " + Twine(section.size) +
                      " bytes cannot unpack to " + Twine(section.unpackedSize));
    for (uint64_t k = end; k < section.offset; ++k)
      if (bytes[k] != 0)
        return fail(k,
                    "padding before section " + Twine(shown) + " is not zero");
    end = section.offset + section.size;
    reader.table.push_back(std::move(section));
  }
  if (end != bytes.size())
    return fail(end,
                Twine(bytes.size() - end) + " bytes follow the last section");
  return std::move(reader);
}

llvm::Error edf::checkCrc(const Reader &reader, llvm::ArrayRef<uint8_t> data,
                          const SectionInfo &section) {
  uint32_t crc = llvm::crc32(data.slice(section.offset, section.size));
  if (crc == section.crc)
    return llvm::Error::success();
  return makeError(reader.fileName() + ": section " +
                   describe(section, reader.numKernels()) + " at offset " +
                   Twine(section.offset) + ": CRC-32 is " + hex(crc) +
                   ", the table says " + hex(section.crc));
}

llvm::Error Reader::check() const {
  for (const SectionInfo &section : table)
    if (llvm::Error error = checkCrc(*this, data, section))
      return error;
  if (llvm::equal(computeDigest(data), data.slice(digestOffset, digestBytes)))
    return llvm::Error::success();
  return makeError(name + ": offset " + Twine(digestOffset) +
                   ": the SHA-256 of the file is not the one in its header");
}

//===----------------------------------------------------------------------===//
// Whole kernels
//===----------------------------------------------------------------------===//

/// Moves `from` to `to`, or returns its error.
template <typename T>
static llvm::Error assign(T &to, llvm::Expected<T> from) {
  if (!from)
    return from.takeError();
  to = std::move(*from);
  return llvm::Error::success();
}

/// The parts that running needs; `checkKernel` is still to be called.
static llvm::Expected<Kernel> readExecutable(const Reader &reader,
                                             unsigned index) {
  Kernel kernel;
  if (llvm::Error error = assign(kernel.programs, reader.programs(index)))
    return std::move(error);
  if (llvm::Error error = assign(kernel.spm, reader.spmImage(index)))
    return std::move(error);
  if (llvm::Error error = assign(kernel.arguments, reader.arguments(index)))
    return std::move(error);
  if (llvm::Error error = assign(kernel.scalars, reader.scalars(index)))
    return std::move(error);
  if (llvm::Error error = assign(kernel.plan, reader.plan(index)))
    return std::move(error);
  if (llvm::Error error = assign(kernel.constants, reader.constants(index)))
    return std::move(error);
  return kernel;
}

static llvm::Expected<Kernel> readAll(const Reader &reader, unsigned index) {
  llvm::Expected<Kernel> kernel = readExecutable(reader, index);
  if (!kernel)
    return kernel;
  if (llvm::Error error = assign(kernel->schedule, reader.schedule(index)))
    return std::move(error);
  if (llvm::Error error = assign(kernel->names, reader.names(index)))
    return std::move(error);
  if (llvm::Error error = assign(kernel->info, reader.info(index)))
    return std::move(error);
  if (llvm::Error error = assign(kernel->locations, reader.locations(index)))
    return std::move(error);
  return kernel;
}

/// What checks of single sections do not see.
static llvm::Expected<Kernel> checked(const Reader &reader, unsigned index,
                                      llvm::Expected<Kernel> kernel) {
  if (!kernel)
    return kernel;
  if (Fault fault = checkKernel(*kernel))
    return makeError(
        reader.fileName() + ": " +
        (reader.numKernels() > 1 ? "kernel " + Twine(index) + ": " : Twine()) +
        *fault);
  return kernel;
}

llvm::Expected<Kernel> Reader::loadExecutable(unsigned kernel) const {
  // A damaged file is not run, wherever the damage is.
  if (llvm::Error error = check())
    return std::move(error);
  return checked(*this, kernel, readExecutable(*this, kernel));
}

llvm::Expected<Kernel> Reader::load(unsigned kernel) const {
  if (llvm::Error error = check())
    return std::move(error);
  return checked(*this, kernel, readAll(*this, kernel));
}

llvm::Expected<std::vector<Kernel>> Reader::loadAll() const {
  if (llvm::Error error = check())
    return std::move(error);
  std::vector<Kernel> result;
  result.reserve(kernels);
  for (unsigned index = 0; index < kernels; ++index) {
    llvm::Expected<Kernel> kernel =
        checked(*this, index, readAll(*this, index));
    if (!kernel)
      return kernel.takeError();
    result.push_back(std::move(*kernel));
  }
  return result;
}

llvm::Expected<unsigned> Reader::findKernel(llvm::StringRef kernelName) const {
  if (kernels == 1 && kernelName.empty())
    return 0;
  std::vector<std::string> found;
  for (unsigned index = 0; index < kernels; ++index) {
    llvm::Expected<Names> names = this->names(index);
    if (!names)
      return names.takeError();
    found.push_back(std::move(names->kernel));
  }
  return edf::findKernel(
      llvm::SmallVector<llvm::StringRef>(found.begin(), found.end()),
      kernelName, name);
}

llvm::Expected<unsigned>
edf::findKernel(llvm::ArrayRef<llvm::StringRef> kernels, llvm::StringRef wanted,
                llvm::StringRef file) {
  if (wanted.empty()) {
    if (kernels.size() == 1)
      return 0;
    return makeError(file + " has several kernels; choose one: " +
                     llvm::join(kernels, ", "));
  }
  llvm::SmallVector<unsigned> byLastPart;
  std::string lastPart = ("::" + wanted).str();
  for (auto [index, kernel] : llvm::enumerate(kernels)) {
    if (kernel == wanted)
      return index;
    if (kernel.ends_with(lastPart))
      byLastPart.push_back(index);
  }
  if (byLastPart.size() == 1)
    return byLastPart.front();
  return makeError(
      file +
      (byLastPart.empty() ? " has no kernel '" : " has several kernels '") +
      wanted + "'; it has " + llvm::join(kernels, ", "));
}
