//===- Machine.cpp - The RNGD chip in numbers -----------------------------===//
//
// The printable table of facts, and what the feed buffer of each release takes.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace furiosa;
using namespace furiosa::rngd;

static constexpr MachineFact facts[] = {
#define FURIOSA_MACHINE_FACT(NAME, VALUE, UNIT, ASSUMED, SOURCE)               \
  {#NAME, VALUE, UNIT, SOURCE, ASSUMED},
#include "furiosa/Target/RNGD/Machine.def"
};

llvm::ArrayRef<MachineFact> furiosa::rngd::machineFacts() { return facts; }

const MachineFact *furiosa::rngd::findMachineFact(llvm::StringRef name) {
  const auto *it = llvm::find_if(
      facts, [&](const MachineFact &fact) { return fact.name == name; });
  return it == std::end(facts) ? nullptr : it;
}

void furiosa::rngd::printMachine(llvm::raw_ostream &os) {
  size_t nameWidth = 0;
  for (const MachineFact &fact : facts)
    nameWidth = std::max(nameWidth, fact.name.size());
  for (const MachineFact &fact : facts) {
    os << llvm::left_justify(fact.name, nameWidth) << " = ";
    if (fact.unit == "address")
      os << llvm::format_hex(fact.value, 0);
    else
      os << fact.value << ' ' << fact.unit;
    os << "  (" << fact.source << (fact.assumed ? ", assumed)\n" : ")\n");
  }
  os << std::size(facts) << " facts, "
     << llvm::count_if(facts, [](const MachineFact &f) { return f.assumed; })
     << " of them assumed\n";
}

//===----------------------------------------------------------------------===//
// Releases
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral releaseNames[numReleases] = {
    "0.2", "0.3", "0.4", "0.5", "0.6"};

llvm::StringRef furiosa::rngd::toString(Release release) {
  return releaseNames[static_cast<unsigned>(release)];
}

std::optional<Release> furiosa::rngd::parseRelease(llvm::StringRef text) {
  for (unsigned i = 0; i < numReleases; ++i)
    if (releaseNames[i] == text)
      return static_cast<Release>(i);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Feed buffers
//===----------------------------------------------------------------------===//

namespace {
struct FeedTypeInfo {
  llvm::StringLiteral name;
  ElementType element;
  std::optional<FeedType> promoted;
};
} // namespace

/// In the order of FeedType.
static constexpr FeedTypeInfo feedTypes[numFeedTypes] = {
    {"RawInt4", ElementType::I4, FeedType::RawInt5},
    {"RawInt5", ElementType::I5, FeedType::RawInt5},
    {"RawInt8", ElementType::I8, FeedType::RawInt9},
    {"RawInt9", ElementType::I9, FeedType::RawInt9},
    {"RawF8E4M3", ElementType::F8E4M3, FeedType::RawF8E4M3},
    {"RawF8E5M2", ElementType::F8E5M2, FeedType::RawF8E5M2},
    {"RawBF16", ElementType::BF16, FeedType::RawBF16},
    {"RawInt16", ElementType::I16, std::nullopt},
    {"RawInt32", ElementType::I32, std::nullopt},
    {"RawUInt8", ElementType::U8, std::nullopt},
    {"RawF32", ElementType::F32, std::nullopt},
    {"RawF4E2M1", ElementType::F4E2M1, std::nullopt}};

llvm::StringRef furiosa::rngd::toString(FeedType type) {
  return feedTypes[static_cast<unsigned>(type)].name;
}

std::optional<FeedType> furiosa::rngd::parseFeedType(llvm::StringRef name) {
  for (unsigned i = 0; i < numFeedTypes; ++i)
    if (feedTypes[i].name == name)
      return static_cast<FeedType>(i);
  return std::nullopt;
}

FeedType furiosa::rngd::feedTypeOf(ElementType type) {
  const auto *found = llvm::find_if(feedTypes, [&](const FeedTypeInfo &info) {
    return info.element == type;
  });
  return static_cast<FeedType>(found - feedTypes);
}

ElementType furiosa::rngd::elementTypeOf(FeedType type) {
  return feedTypes[static_cast<unsigned>(type)].element;
}

std::optional<FeedType> furiosa::rngd::promote(FeedType type) {
  return feedTypes[static_cast<unsigned>(type)].promoted;
}

namespace {
/// The verdict for one type, a set of flit counts and a range of releases.
struct FeedRule {
  FeedType type;
  /// 1, 2, or 3 for both.
  unsigned flitMask;
  Release first, last;
  bool accepted;
  bool assumed;
  llvm::StringLiteral reason;
};
} // namespace

// TU 13. What it does not say about a combination is assumed.
static constexpr FeedRule feedRules[] = {
    {FeedType::RawInt4, 3, Release::R0_2, Release::R0_3, false, true,
     "int4 contraction does not reach the binary before release 0.6"},
    {FeedType::RawInt4, 3, Release::R0_4, Release::R0_5, false, false,
     "int4 contraction does not reach the binary before release 0.6"},
    {FeedType::RawInt4, 1, Release::R0_6, Release::R0_6, true, false,
     "int4 contraction works from release 0.6 on"},
    {FeedType::RawInt4, 2, Release::R0_6, Release::R0_6, true, true,
     "int4 contraction works from release 0.6 on"},
    {FeedType::RawInt5, 3, Release::R0_2, Release::R0_3, false, false,
     "the 5-bit type does not exist before release 0.4"},
    {FeedType::RawInt5, 3, Release::R0_4, Release::R0_5, false, false,
     "5-bit contraction does not reach the binary before release 0.6"},
    {FeedType::RawInt5, 3, Release::R0_6, Release::R0_6, true, true,
     "5-bit contraction works from release 0.6 on"},
    {FeedType::RawInt8, 1, Release::R0_2, Release::R0_3, true, true,
     "only the refusal of two collected flits is reported"},
    {FeedType::RawInt8, 2, Release::R0_2, Release::R0_3, false, false,
     "a feed buffer of int8 with two collected flits is an unsupported element "
     "type before release 0.4"},
    {FeedType::RawInt8, 3, Release::R0_4, Release::R0_6, true, false,
     "int8 is promoted to the 9-bit type from release 0.4 on"},
    {FeedType::RawInt9, 3, Release::R0_2, Release::R0_3, false, false,
     "the 9-bit type does not exist before release 0.4"},
    {FeedType::RawInt9, 3, Release::R0_4, Release::R0_6, true, true,
     "the 9-bit type exists from release 0.4 on"},
    {FeedType::RawF8E4M3, 3, Release::R0_2, Release::R0_3, true, true,
     "a stream type of the release"},
    {FeedType::RawF8E4M3, 1, Release::R0_4, Release::R0_6, true, false,
     "reaches the binary from release 0.4 on"},
    {FeedType::RawF8E4M3, 2, Release::R0_4, Release::R0_6, true, true,
     "only a kernel with one collected flit is known"},
    {FeedType::RawF8E5M2, 3, Release::R0_2, Release::R0_3, false, false,
     "f8e5m2 contraction does not exist before release 0.4"},
    {FeedType::RawF8E5M2, 1, Release::R0_4, Release::R0_6, true, false,
     "reaches the binary from release 0.4 on"},
    {FeedType::RawF8E5M2, 2, Release::R0_4, Release::R0_6, true, true,
     "only a kernel with one collected flit is known"},
    {FeedType::RawBF16, 3, Release::R0_2, Release::R0_3, true, true,
     "a stream type of the release"},
    {FeedType::RawBF16, 1, Release::R0_4, Release::R0_6, true, false,
     "reaches the binary from release 0.4 on"},
    {FeedType::RawBF16, 2, Release::R0_4, Release::R0_6, true, true,
     "only a kernel with one collected flit is known"},
    {FeedType::RawInt16, 3, Release::R0_2, Release::R0_6, false, false,
     "no weight type pairs with int16"},
    {FeedType::RawInt32, 3, Release::R0_2, Release::R0_6, false, false,
     "no weight type pairs with int32"},
    {FeedType::RawUInt8, 3, Release::R0_2, Release::R0_6, false, false,
     "no weight type pairs with unsigned int8"},
    {FeedType::RawF32, 3, Release::R0_2, Release::R0_6, false, false,
     "no weight type pairs with f32"},
    {FeedType::RawF4E2M1, 3, Release::R0_2, Release::R0_6, false, false,
     "f4e2m1 is not a stream type of the contraction; look it up to an f8 type "
     "at fetch"},
};

FeedBufferVerdict furiosa::rngd::feedBufferVerdict(Release release,
                                                   FeedType type,
                                                   unsigned flits) {
  if (flits != 1 && flits != 2)
    return {false, false, "a feed buffer takes one or two collected flits"};
  for (const FeedRule &rule : feedRules)
    if (rule.type == type && (rule.flitMask & flits) && rule.first <= release &&
        release <= rule.last)
      return {rule.accepted, rule.assumed, rule.reason.str()};
  return {false, true, "nothing is known of this combination"};
}

/// "Flit1", "Flit2", "Flit1 and Flit2" for the accepted ones.
static std::string acceptedFlits(Release release, FeedType type) {
  llvm::SmallVector<llvm::StringRef, 2> names;
  if (feedBufferVerdict(release, type, 1).accepted)
    names.push_back("Flit1");
  if (feedBufferVerdict(release, type, 2).accepted)
    names.push_back("Flit2");
  return llvm::join(names, " and ");
}

std::string furiosa::rngd::describeFeedBuffer(Release release, FeedType type) {
  std::string name = toString(type).str();
  std::string here = acceptedFlits(release, type);
  std::string text = "release " + toString(release).str();
  text += here.empty() ? " does not accept " + name
                       : " accepts " + name + " with " + here;

  // What a later release adds, in the order of the releases.
  std::string known = here;
  bool anywhere = !here.empty();
  for (unsigned i = static_cast<unsigned>(release) + 1; i < numReleases; ++i) {
    auto later = static_cast<Release>(i);
    std::string there = acceptedFlits(later, type);
    if (there == known || there.empty())
      continue;
    llvm::StringRef added(there);
    if (!known.empty() && added.consume_front(known))
      added.consume_front(" and ");
    text += "; " + name + " with " + added.str() + " from release " +
            toString(later).str() + " on";
    known = there;
    anywhere = true;
  }
  if (anywhere)
    return text;

  llvm::SmallVector<llvm::StringRef> others;
  for (unsigned i = 0; i < numFeedTypes; ++i)
    if (auto other = static_cast<FeedType>(i);
        !acceptedFlits(release, other).empty())
      others.push_back(toString(other));
  return text + ", and no later release does; it accepts " +
         llvm::join(others, ", ");
}

//===----------------------------------------------------------------------===//
// Device configurations
//===----------------------------------------------------------------------===//

std::optional<unsigned> furiosa::rngd::slicesPerClusterFor(unsigned pes) {
  switch (pes) {
  case 1:
    return 64;
  case 2:
    return 128;
  case 4:
  case 8:
    return 256;
  default:
    return std::nullopt;
  }
}

std::optional<unsigned> furiosa::rngd::clustersFor(unsigned pes) {
  if (!slicesPerClusterFor(pes))
    return std::nullopt;
  return pes == 8 ? 2 : 1;
}
