//===- Conversions.h - Element conversions on the stream --------*- C++ -*-===//
//
// The one table of what the fetch adapter converts, with the codes of the
// register fields. All levels look here.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_TARGET_RNGD_CONVERSIONS_H
#define FURIOSA_TARGET_RNGD_CONVERSIONS_H

#include "furiosa/Support/NumberFormats.h"
#include "furiosa/Target/RNGD/Codes.h"

namespace furiosa::rngd {

/// Stages of the fetch adapter, in the order of the stream (TU-4).
enum class AdapterStage : uint8_t { TableLookup, Cast, ZeroPoint };

struct FetchConversion {
  AdapterStage stage;
  ElementType from, to;
  /// A `codes::TableEntrySize` of the table lookup, else a `codes::FetchCast`.
  uint8_t code;
};

namespace detail {
template <typename Code>
constexpr FetchConversion conversion(AdapterStage stage, ElementType from,
                                     ElementType to, Code code) {
  return {stage, from, to, static_cast<uint8_t>(code)};
}
} // namespace detail

/// TU-5, TU-6, TU-8; the identity is not listed.
inline constexpr FetchConversion fetchConversions[] = {
    detail::conversion(AdapterStage::TableLookup, ElementType::F4E2M1,
                       ElementType::F8E4M3,
                       codes::TableEntrySize::F4E2M1ToF8E4M3),
    detail::conversion(AdapterStage::TableLookup, ElementType::F4E2M1,
                       ElementType::F8E5M2,
                       codes::TableEntrySize::F4E2M1ToF8E5M2),
    detail::conversion(AdapterStage::TableLookup, ElementType::F8E4M3,
                       ElementType::BF16, codes::TableEntrySize::F8E4M3ToBF16),
    detail::conversion(AdapterStage::TableLookup, ElementType::F8E5M2,
                       ElementType::BF16, codes::TableEntrySize::F8E5M2ToBF16),
    detail::conversion(AdapterStage::Cast, ElementType::I4, ElementType::I32,
                       codes::FetchCast::I4ToI32),
    detail::conversion(AdapterStage::Cast, ElementType::I8, ElementType::I32,
                       codes::FetchCast::I8ToI32),
    detail::conversion(AdapterStage::Cast, ElementType::I16, ElementType::I32,
                       codes::FetchCast::I16ToI32),
    detail::conversion(AdapterStage::Cast, ElementType::F8E4M3,
                       ElementType::F32, codes::FetchCast::F8E4M3ToF32),
    detail::conversion(AdapterStage::Cast, ElementType::F8E5M2,
                       ElementType::F32, codes::FetchCast::F8E5M2ToF32),
    detail::conversion(AdapterStage::Cast, ElementType::BF16, ElementType::F32,
                       codes::FetchCast::BF16ToF32),
    detail::conversion(AdapterStage::Cast, ElementType::F32, ElementType::BF16,
                       codes::FetchCast::F32ToBF16),
    detail::conversion(AdapterStage::ZeroPoint, ElementType::I4,
                       ElementType::I5, codes::FetchCast::I4ToI5),
    detail::conversion(AdapterStage::ZeroPoint, ElementType::I8,
                       ElementType::I9, codes::FetchCast::I8ToI9),
};

/// The conversion of a stage, or null.
inline const FetchConversion *findConversion(AdapterStage stage,
                                             ElementType from, ElementType to) {
  for (const FetchConversion &entry : fetchConversions)
    if (entry.stage == stage && entry.from == from && entry.to == to)
      return &entry;
  return nullptr;
}

/// The conversion that a field's code means, or null. Zero points share the
/// codes of casts.
inline const FetchConversion *findConversion(bool isLookup, uint64_t code) {
  for (const FetchConversion &entry : fetchConversions)
    if ((entry.stage == AdapterStage::TableLookup) == isLookup &&
        entry.code == code)
      return &entry;
  return nullptr;
}

} // namespace furiosa::rngd

#endif // FURIOSA_TARGET_RNGD_CONVERSIONS_H
