//===- Cache.cpp - Compiled kernels by content ----------------------------===//

#include "Cache.h"

#include "Artifacts.h"
#include "furiosa/Support/Version.h"
#include "furiosa/Support/WriteFile.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <nlohmann/json.hpp>

#include <elf.h>
#include <link.h>

using namespace llvm;
using nlohmann::json;

namespace furiosa::compile {

/// Of the entries' layout; older ones are found no more.
static constexpr StringLiteral cacheVersion = "2";
static constexpr size_t digestBytes = 16;
/// Makespan, lower bound and whether it is silent in front of a binary. Not
/// CBOR, whose reader takes bytes one by one.
static constexpr size_t kernelHeaderBytes = 24;
/// How exactly it is known when an entry was used last: to note it at each use
/// would cost as much as the use.
static constexpr auto useResolution = std::chrono::minutes(10);

//===----------------------------------------------------------------------===//
// The compiler
//===----------------------------------------------------------------------===//

/// The linker's build id of this program, in hexadecimal digits; empty if it
/// has none.
static std::string getBuildId() {
  std::string id;
  auto visit = [](dl_phdr_info *info, size_t, void *result) -> int {
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr) &header = info->dlpi_phdr[i];
      if (header.p_type != PT_NOTE)
        continue;
      const auto *at =
          reinterpret_cast<const char *>(info->dlpi_addr + header.p_vaddr);
      const char *end = at + header.p_memsz;
      while (at + sizeof(ElfW(Nhdr)) <= end) {
        const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
        const char *name = at + sizeof(ElfW(Nhdr));
        const char *data = name + alignTo(note->n_namesz, 4);
        at = data + alignTo(note->n_descsz, 4);
        if (at > end)
          break;
        if (note->n_type == NT_GNU_BUILD_ID &&
            StringRef(name, note->n_namesz) == StringRef("GNU\0", 4))
          *static_cast<std::string *>(result) =
              toHex(StringRef(data, note->n_descsz), /*LowerCase=*/true);
      }
    }
    // The first object is the program itself.
    return 1;
  };
  dl_iterate_phdr(visit, &id);
  return id;
}

std::string getCompilerIdentity() {
  static const std::string identity = [] {
    std::string id = getBuildId();
    if (id.empty())
      if (auto program = MemoryBuffer::getFile(
              sys::fs::getMainExecutable(nullptr, nullptr)))
        id = utohexstr(xxh3_64bits((*program)->getBuffer()));
    return "furiosa-opt-mlir " FURIOSA_VERSION " " + id;
  }();
  return identity;
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

std::string getDefaultCacheFolder() {
  if (std::optional<std::string> folder =
          sys::Process::GetEnv("FURIOSA_OPT_CACHE_DIR"))
    return *folder;
  SmallString<128> path;
  if (!sys::path::cache_directory(path))
    return "";
  sys::path::append(path, "furiosa-opt");
  return path.str().str();
}

std::optional<uint64_t> parseSize(StringRef text) {
  unsigned shift = 0;
  if (!text.empty())
    switch (toLower(text.back())) {
    case 'k':
      shift = 10;
      break;
    case 'm':
      shift = 20;
      break;
    case 'g':
      shift = 30;
      break;
    }
  if (shift != 0)
    text = text.drop_back();
  uint64_t value;
  if (text.getAsInteger(10, value) || value > (UINT64_MAX >> 1 >> shift))
    return std::nullopt;
  return value << shift;
}

Expected<std::unique_ptr<Cache>> Cache::open(std::string folder) {
  if (std::error_code error = makeFolders(folder))
    return createStringError("cannot make cache folder '" + folder +
                             "': " + error.message());
  auto cache = std::make_unique<Cache>();
  cache->folder = std::move(folder);
  cache->compiler = getCompilerIdentity();
  // What backup programs look for: https://bford.info/cachedir/
  SmallString<128> tag(cache->folder);
  sys::path::append(tag, "CACHEDIR.TAG");
  if (!sys::fs::exists(tag))
    consumeError(writeFile(tag, [](raw_ostream &os) {
      os << "Signature: 8a477f597d28d172789f06886806bc55\n";
      return Error::success();
    }));
  return cache;
}

/// LLVM's pruning looks at files with this prefix only.
std::string Cache::getPath(char kind, StringRef key) const {
  SmallString<128> path(folder);
  sys::path::append(path, Twine("llvmcache-") + Twine(kind) + "-" + key);
  return path.str().str();
}

/// Parts with their lengths, so that no two lists of parts are the same bytes.
static std::string hashParts(ArrayRef<StringRef> parts) {
  BLAKE3 hash;
  for (StringRef part : parts) {
    hash.update(std::to_string(part.size()) + ":");
    hash.update(part);
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

std::string Cache::getFileKey(StringRef bytes, StringRef options) const {
  return hashParts({"file", cacheVersion, compiler, options, bytes});
}

std::string Cache::getKernelKey(StringRef slice, StringRef options) const {
  return hashParts({"kernel", cacheVersion, compiler, options, slice});
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// Finds damage, not malice.
static std::string getDigest(ArrayRef<uint8_t> payload) {
  XXH128_hash_t hash = xxh3_128bits(payload);
  std::string digest(digestBytes, '\0');
  support::endian::write64le(digest.data(), hash.low64);
  support::endian::write64le(digest.data() + 8, hash.high64);
  return digest;
}

std::optional<std::vector<uint8_t>> Cache::read(const std::string &path) {
  int file;
  if (sys::fs::openFileForRead(path, file))
    return std::nullopt;
  scope_exit close([&] { sys::Process::SafelyCloseFileDescriptor(file); });
  sys::fs::file_status status;
  if (sys::fs::status(file, status))
    return std::nullopt;
  auto buffer = MemoryBuffer::getOpenFile(file, path, status.getSize(),
                                          /*RequiresNullTerminator=*/false);
  if (!buffer || (*buffer)->getBufferSize() < digestBytes)
    return std::nullopt;
  StringRef bytes = (*buffer)->getBuffer();
  auto payload = arrayRefFromStringRef(bytes.drop_front(digestBytes));
  if (getDigest(payload) != bytes.take_front(digestBytes))
    return std::nullopt;
  // Pruning removes what was not used for longest.
  auto now = std::chrono::system_clock::now();
  if (status.getLastModificationTime() + useResolution < now)
    sys::fs::setLastAccessAndModificationTime(file, now);
  return std::vector<uint8_t>(payload.begin(), payload.end());
}

void Cache::write(const std::string &path, std::vector<uint8_t> payload) {
  consumeError(writeFile(path, [&](raw_ostream &os) {
    os << getDigest(payload) << toStringRef(ArrayRef(payload));
    return Error::success();
  }));
}

/// The value of a key; null if there is none of that type.
static const json *find(const json &object, const char *key,
                        json::value_t type) {
  if (!object.is_object())
    return nullptr;
  auto it = object.find(key);
  return it == object.end() || it->type() != type ? nullptr : &*it;
}

static bool getNumber(const json &object, const char *key, uint64_t &value) {
  const json *found = find(object, key, json::value_t::number_unsigned);
  if (found)
    value = found->get<uint64_t>();
  return found;
}

/// Names may hold any bytes, so strings are written as bytes.
static json toBinary(StringRef text) {
  return json::binary(std::vector<uint8_t>(text.begin(), text.end()));
}

static bool getBinary(const json &object, const char *key, std::string &value) {
  const json *found = find(object, key, json::value_t::binary);
  if (found)
    value.assign(found->get_binary().begin(), found->get_binary().end());
  return found;
}

std::optional<CompiledKernel> Cache::findKernel(StringRef key,
                                                bool withMessages) {
  if (!isEnabled())
    return std::nullopt;
  if (auto payload = read(getPath('k', key))) {
    if (payload->size() >= kernelHeaderBytes) {
      auto getField = [&](size_t index) {
        return support::endian::read64le(payload->data() + 8 * index);
      };
      CompiledKernel kernel;
      kernel.makespan = getField(0);
      kernel.lowerBound = getField(1);
      kernel.isSilent = getField(2) != 0;
      if (kernel.isSilent || withMessages) {
        payload->erase(payload->begin(), payload->begin() + kernelHeaderBytes);
        kernel.edf = std::move(*payload);
        ++kernelHits;
        return kernel;
      }
    }
  }
  ++kernelMisses;
  return std::nullopt;
}

/// Null if the message, or one of its notes, points into another file.
static json messageToBinary(const Message &message, StringRef file) {
  bool isHere = message.place.file == file;
  if (!isHere && !message.place.file.empty())
    return nullptr;
  json notes = json::array();
  for (const Message &child : message.children) {
    notes.push_back(messageToBinary(child, file));
    if (notes.back().is_null())
      return nullptr;
  }
  return {{"level", uint64_t(message.level)},
          {"text", toBinary(message.text)},
          {"here", uint64_t(isHere)},
          {"line", message.place.line},
          {"column", message.place.column},
          {"notes", std::move(notes)}};
}

static bool getMessages(const json &object, const char *key, StringRef file,
                        std::vector<Message> &messages) {
  const json *list = find(object, key, json::value_t::array);
  if (!list)
    return false;
  for (const json &item : *list) {
    Message message;
    uint64_t level = 0, isHere = 0, line = 0, column = 0;
    if (!getNumber(item, "level", level) || level > Message::Remark ||
        !getBinary(item, "text", message.text) ||
        !getNumber(item, "here", isHere) || !getNumber(item, "line", line) ||
        !getNumber(item, "column", column) ||
        !getMessages(item, "notes", file, message.children))
      return false;
    message.level = static_cast<Message::Level>(level);
    message.place = {isHere != 0 ? file.str() : std::string(),
                     static_cast<unsigned>(line),
                     static_cast<unsigned>(column)};
    messages.push_back(std::move(message));
  }
  return true;
}

std::optional<std::vector<KernelEntry>> Cache::findFile(StringRef key,
                                                        StringRef file) {
  if (!isEnabled())
    return std::nullopt;
  if (auto payload = read(getPath('f', key))) {
    json list = json::from_cbor(*payload, /*strict=*/true,
                                /*allow_exceptions=*/false);
    std::vector<KernelEntry> entries;
    bool ok = list.is_array();
    if (ok)
      for (const json &item : list) {
        KernelEntry entry;
        uint64_t line = 0, column = 0;
        ok = ok && getBinary(item, "package", entry.name.package) &&
             getBinary(item, "name", entry.name.name) &&
             getBinary(item, "key", entry.key) &&
             getNumber(item, "line", line) &&
             getNumber(item, "column", column) &&
             getMessages(item, "messages", file, entry.messages);
        entry.line = static_cast<unsigned>(line);
        entry.column = static_cast<unsigned>(column);
        entries.push_back(std::move(entry));
      }
    if (ok) {
      ++fileHits;
      return entries;
    }
  }
  ++fileMisses;
  return std::nullopt;
}

void Cache::storeKernel(StringRef key, const CompiledKernel &kernel) {
  if (!isEnabled())
    return;
  std::vector<uint8_t> payload(kernelHeaderBytes);
  uint64_t fields[] = {kernel.makespan, kernel.lowerBound, kernel.isSilent};
  for (auto [index, field] : enumerate(fields))
    support::endian::write64le(payload.data() + 8 * index, field);
  payload.insert(payload.end(), kernel.edf.begin(), kernel.edf.end());
  write(getPath('k', key), std::move(payload));
}

void Cache::storeFile(StringRef key, StringRef file,
                      ArrayRef<KernelEntry> entries) {
  if (!isEnabled())
    return;
  json list = json::array();
  for (const KernelEntry &entry : entries) {
    json messages = json::array();
    for (const Message &message : entry.messages)
      messages.push_back(messageToBinary(message, file));
    // All of them or none: a kernel of which a part is missing is a miss.
    if (any_of(messages, [](const json &message) { return message.is_null(); }))
      messages = json::array();
    list.push_back({{"package", toBinary(entry.name.package)},
                    {"name", toBinary(entry.name.name)},
                    {"key", toBinary(entry.key)},
                    {"line", entry.line},
                    {"column", entry.column},
                    {"messages", std::move(messages)}});
  }
  write(getPath('f', key), json::to_cbor(list));
}

void Cache::prune(uint64_t bytes, bool now) {
  if (!isEnabled())
    return;
  CachePruningPolicy policy;
  policy.Interval = std::chrono::seconds(now ? 0 : 20 * 60);
  // To LLVM a limit of 0 is none.
  policy.MaxSizeBytes = std::max<uint64_t>(bytes, 1);
  policy.MaxSizePercentageOfAvailableSpace = 0;
  policy.MaxSizeFiles = 0;
  policy.Expiration = std::chrono::seconds(0);
  if (!pruneCache(folder, policy))
    return;
  // What runs that were killed have left; those that live write for seconds.
  auto old = std::chrono::system_clock::now() - std::chrono::hours(1);
  std::error_code error;
  for (sys::fs::directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error))
    if (isTemporaryName(sys::path::filename(it->path())))
      if (auto status = it->status();
          status && status->getLastModificationTime() < old)
        sys::fs::remove(it->path());
}

Cache::Statistics Cache::getStatistics() const {
  Statistics statistics;
  statistics.kernelHits = kernelHits;
  statistics.kernelMisses = kernelMisses;
  statistics.fileHits = fileHits;
  statistics.fileMisses = fileMisses;
  if (!isEnabled())
    return statistics;
  std::error_code error;
  for (sys::fs::directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error)) {
    if (!sys::path::filename(it->path()).starts_with("llvmcache-"))
      continue;
    if (auto status = it->status()) {
      ++statistics.entries;
      statistics.bytes += status->getSize();
    }
  }
  return statistics;
}

} // namespace furiosa::compile
