//===- SimulatorVector.cpp - Vector engine --------------------------------===//
//
// Integer ALUs on the eight elements of a flit, and the cast engine.
//
//===----------------------------------------------------------------------===//

#include "SimulatorImpl.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::sim;
using codes::IndexerModule;
using llvm::Error;
using llvm::Twine;
namespace endian = llvm::support::endian;

static uint32_t saturate(int64_t value) {
  return static_cast<uint32_t>(
      std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(),
                          std::numeric_limits<int32_t>::max()));
}

/// Q31 times Q31, ties toward +infinity; only MIN times MIN saturates.
static uint32_t mulFixed(int64_t a, int64_t b) {
  return saturate((a * b + (int64_t(1) << 30)) >> 31);
}

static Error checkShift(uint32_t amount) {
  if (amount < 32)
    return Error::success();
  return llvm::createStringError("shift by " +
                                 Twine(static_cast<int32_t>(amount)) +
                                 ": amounts beyond 0 to 31 are not defined");
}

/// |value|; what |MIN| is nobody says.
static llvm::Expected<int64_t> magnitude(uint32_t value) {
  if (value == 0x80000000u)
    return llvm::createStringError("magnitude of -2147483648 is not defined");
  int64_t number = static_cast<int32_t>(value);
  return number < 0 ? -number : number;
}

static llvm::Expected<uint32_t> pickByMagnitude(uint32_t a, uint32_t b,
                                                bool larger) {
  llvm::Expected<int64_t> left = magnitude(a);
  if (!left)
    return left.takeError();
  llvm::Expected<int64_t> right = magnitude(b);
  if (!right)
    return right.takeError();
  return (larger ? *left > *right : *left < *right) ? a : b;
}

static uint32_t shiftRightArithmetic(uint32_t a, uint32_t amount) {
  return static_cast<uint32_t>(static_cast<int32_t>(a) >> amount);
}

/// One operation of one ALU on codes of 32 bits.
static llvm::Expected<uint32_t> apply(const AluConfig &alu, uint32_t a,
                                      uint32_t b) {
  int64_t left = static_cast<int32_t>(a), right = static_cast<int32_t>(b);
  switch (alu.alu) {
  case IndexerModule::LogicAnd:
    return a & b;
  case IndexerModule::LogicOr:
    return a | b;
  case IndexerModule::LogicXor:
    return a ^ b;
  case IndexerModule::LogicLeftShift:
    if (Error error = checkShift(b))
      return error;
    return a << b;
  case IndexerModule::LogicRightShift:
    if (Error error = checkShift(b))
      return error;
    return alu.op == value(codes::LogicRightShiftOp::Sar)
               ? shiftRightArithmetic(a, b)
               : a >> b;
  case IndexerModule::FxpAdd:
    switch (static_cast<codes::FxpAddOp>(alu.op)) {
    case codes::FxpAddOp::Add:
      return a + b;
    case codes::FxpAddOp::AddSat:
      return saturate(left + right);
    case codes::FxpAddOp::Sub:
      return a - b;
    case codes::FxpAddOp::SubSat:
      return saturate(left - right);
    }
    break;
  case IndexerModule::FxpLeftShift:
    if (Error error = checkShift(b))
      return error;
    if (alu.op == value(codes::FxpLeftShiftOp::Shl))
      return a << b;
    // The factor is an i32: at 31 it is negative.
    return saturate(left * static_cast<int32_t>(1u << b));
  case IndexerModule::FxpMul:
    return alu.op == value(codes::FxpMulOp::MulInt) ? a * b
                                                    : mulFixed(left, right);
  case IndexerModule::FxpRightShift:
    if (Error error = checkShift(b))
      return error;
    return alu.op == value(codes::FxpRightShiftOp::Sar)
               ? shiftRightArithmetic(a, b)
               : a >> b;
  case IndexerModule::ClipAdd:
    return alu.op == value(codes::ClipAddOp::Add) ? a + b
                                                  : saturate(left + right);
  case IndexerModule::ClipMax:
    if (alu.op == value(codes::ClipMaxOp::AbsMax))
      return pickByMagnitude(a, b, /*larger=*/true);
    return left > right ? a : b;
  case IndexerModule::ClipMin:
    if (alu.op == value(codes::ClipMinOp::AbsMin))
      return pickByMagnitude(a, b, /*larger=*/false);
    return left < right ? a : b;
  case IndexerModule::None:
  case IndexerModule::FpFma:
  case IndexerModule::FpFpu:
  case IndexerModule::FpExp:
  case IndexerModule::FpMul0:
  case IndexerModule::FpMul1:
  case IndexerModule::FpDiv:
    break;
  }
  return llvm::createStringError("not yet supported: floating-point ALU");
}

/// Eight results first, the rest of the flit undefined.
static void castFlit(codes::CastCompactionMode mode, Flit &flit) {
  using codes::CastCompactionMode;
  if (mode == CastCompactionMode::Off)
    return;
  Flit out;
  std::memset(out.bytes, 0, sizeof(out.bytes));
  out.defined = 0;
  for (unsigned k = 0; k < 8; ++k) {
    uint32_t pattern = endian::read32le(flit.bytes + 4 * k);
    bool defined = (flit.defined >> 4 * k & 0xF) == 0xF;
    if (mode == CastCompactionMode::I4) {
      out.bytes[k / 2] |= static_cast<uint8_t>((pattern & 0xF) << k % 2 * 4);
      // A byte is defined if both its halves are: set by the low one, cleared
      // by the high one.
      if (k % 2 == 0)
        out.defined |= uint32_t(defined) << k / 2;
      else if (!defined)
        out.defined &= ~(1u << k / 2);
      continue;
    }
    bool isWide =
        mode == CastCompactionMode::I16 || mode == CastCompactionMode::BF16;
    uint16_t code = static_cast<uint16_t>(pattern);
    if (mode == CastCompactionMode::BF16)
      code = f32ToBf16(pattern);
    else if (mode == CastCompactionMode::F8E4M3)
      code = f32ToF8E4M3(pattern);
    else if (mode == CastCompactionMode::F8E5M2)
      code = f32ToF8E5M2(pattern);
    if (isWide) {
      endian::write16le(out.bytes + 2 * k, code);
      out.defined |= (defined ? 3u : 0u) << 2 * k;
    } else {
      out.bytes[k] = static_cast<uint8_t>(code);
      out.defined |= uint32_t(defined) << k;
    }
  }
  flit = out;
}

VectorEngine::VectorEngine(const VectorConfig &config, const TrackedMemory &vrf)
    : config(config), vrf(vrf) {
  for (const AluConfig &alu : config.chain)
    counters.emplace_back(alu.base, alu.loops);
}

Error VectorEngine::process(Flit &flit) {
  for (auto [alu, counter] : llvm::zip_equal(config.chain, counters)) {
    bool usesStream = alu.args != codes::ArgMode::OperandOperand;
    bool usesOperand = alu.args != codes::ArgMode::StreamStream;
    bool streamFirst = alu.args == codes::ArgMode::StreamStream ||
                       alu.args == codes::ArgMode::StreamOperand;
    bool streamSecond = alu.args == codes::ArgMode::StreamStream ||
                        alu.args == codes::ArgMode::OperandStream;
    for (unsigned k = 0; k < 8; ++k) {
      uint32_t mask = 0xFu << 4 * k;
      uint32_t operand = alu.immediate;
      bool operandDefined = true;
      if (alu.hasVrfOperand) {
        uint8_t bytes[4];
        vrf.read(counter.address(), bytes, sizeof(bytes));
        operand = endian::read32le(bytes);
        operandDefined = vrf.definedMask(counter.address(), 4) == 0xF;
        counter.next();
      }
      uint8_t *bytes = flit.bytes + 4 * k;
      if ((usesStream && (flit.defined & mask) != mask) ||
          (usesOperand && !operandDefined)) {
        flit.defined &= ~mask;
        endian::write32le(bytes, 0);
        continue;
      }
      uint32_t stream = endian::read32le(bytes);
      llvm::Expected<uint32_t> result = apply(
          alu, streamFirst ? stream : operand, streamSecond ? stream : operand);
      if (!result)
        return result.takeError();
      endian::write32le(bytes, *result);
      flit.defined |= mask;
    }
  }
  castFlit(config.cast, flit);
  return Error::success();
}
