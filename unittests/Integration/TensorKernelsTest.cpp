//===- TensorKernelsTest.cpp - Generated functions of tensors -------------===//
//
// Programs of tensor functions of all kinds and sizes: the interpreter of tmap,
// the interpreter of visa on what the conversion makes of them, and the binary
// in the simulator agree bit for bit.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "furiosa/Conversion/Passes.h"
#include "furiosa/InitAllDialects.h"
#include "furiosa/Interpreter/Interpreter.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace furiosa;
using namespace furiosa::test;
using llvm::formatv;

namespace {

struct Axis {
  char name;
  int64_t size;
};
/// A value of the program: its name, element type and axes.
struct Tensor {
  std::string name, type, axes;
};

/// Writes one program.
class Generator {
public:
  Generator(uint64_t seed, Histogram &histogram)
      : random(seed), histogram(histogram) {}
  std::string write();

private:
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[random() % list.size()];
  }
  bool chance(unsigned percent) { return random() % 100 < percent; }
  void count(const std::string &what) { ++histogram[what]; }

  std::string shuffle(std::string axes) {
    for (size_t i = axes.size(); i > 1; --i)
      std::swap(axes[i - 1], axes[random() % i]);
    return axes;
  }
  std::string typeOf(const Tensor &tensor) {
    std::string mapping;
    for (char axis : tensor.axes)
      mapping += std::string(mapping.empty() ? "" : ", ") + axis;
    return formatv("!tmap.tensor<{0}, \"{1}\", #axes>", tensor.type,
                   mapping.empty() ? "1" : mapping);
  }
  Tensor argument(std::string type, std::string axes) {
    Tensor tensor{formatv("%a{0}", arguments.size()), type, axes};
    arguments.push_back(tensor);
    return tensor;
  }
  Tensor define(std::string type, std::string axes) {
    return {formatv("%v{0}", values++), type, axes};
  }
  void line(const Tensor &result, const std::string &text) {
    body += "  " + result.name + " = " + text + "\n";
  }
  Tensor constant(const std::string &type) {
    Tensor tensor = define(type, "");
    line(tensor,
         formatv("tmap.constant {0} : {1} : {2}",
                 type == "f32" ? pick<const char *>({"0.5", "-2.0", "1.25"})
                               : pick<const char *>({"3", "-7", "1"}),
                 type, typeOf(tensor)));
    return tensor;
  }
  Tensor cast(const Tensor &from, const std::string &type) {
    Tensor to = define(type, from.axes);
    line(to, formatv("tmap.cast {0} : {1} -> {2}", from.name, typeOf(from),
                     typeOf(to)));
    count("cast " + from.type + " to " + type);
    return to;
  }
  Tensor contract();
  Tensor widened(const std::string &type, const std::string &axes);
  Tensor windowed(const std::string &type, const std::string &axes);
  Tensor elementwise(Tensor x);
  Tensor outer(const std::string &axes);
  Tensor reduce(const Tensor &x);
  Tensor reshape(const Tensor &x);

  std::mt19937_64 random;
  Histogram &histogram;
  std::vector<Axis> axes;
  std::vector<Tensor> arguments;
  std::string body;
  unsigned values = 0;
  bool hasLongSums = false;
};

} // namespace

/// Windows of an argument, with axes that the result has or with one tap.
Tensor Generator::windowed(const std::string &type, const std::string &axes) {
  char at = axes[random() % axes.size()], tap = 'T';
  if (axes.size() > 1 && chance(60))
    do
      tap = axes[random() % axes.size()];
    while (tap == at);
  std::string from;
  for (char axis : axes)
    if (axis != tap)
      from += axis == at ? 'Y' : axis;
  Tensor source = argument(type, chance(75) ? from : shuffle(from));
  Tensor result = define(type, chance(75) ? axes : shuffle(axes));
  int64_t stride = pick<int64_t>({1, 1, 2, 3});
  int64_t dilation = pick<int64_t>({1, 1, 2});
  int64_t start = pick<int64_t>({0, 0, -1, 2});
  line(result,
       formatv("tmap.window {0} [Y = {1} * {2} + {3} * {4} + {5}] : {6} -> {7}",
               source.name, at, stride, tap, dilation, start, typeOf(source),
               typeOf(result)));
  count(tap == 'T' ? "window of one tap" : "window");
  return result;
}

/// An argument as i32 or f32, through a cast more often than not.
Tensor Generator::widened(const std::string &type, const std::string &axes) {
  if (!axes.empty() && !hasLongSums && chance(8))
    return windowed(type, axes);
  if (chance(40))
    return argument(type, axes);
  return cast(argument(type == "f32"
                           ? pick<std::string>({"bf16", "f8E4M3FN", "f8E5M2"})
                           : pick<std::string>({"i8", "i16"}),
                       axes),
              type);
}

Tensor Generator::contract() {
  std::string type =
      pick<std::string>({"bf16", "bf16", "i8", "i8", "f8E4M3FN", "f8E5M2"});
  std::string batch = chance(25) ? "B" : "";
  std::string lhs = chance(85) ? "I" : "", rhs = chance(85) ? "J" : "";
  if (chance(15))
    rhs += "H";
  std::string over = chance(15) ? "LK" : "K";
  Tensor a = !hasLongSums && chance(15)
                 ? windowed(type, batch + lhs + over)
                 : argument(type, chance(75) ? batch + lhs + over
                                             : shuffle(batch + lhs + over));
  Tensor b = argument(type, chance(75) ? batch + rhs + over
                                       : shuffle(rhs + over + batch));
  std::string free = batch + lhs + rhs;
  Tensor c =
      define(type == "i8" ? "i32" : "f32", chance(75) ? free : shuffle(free));
  line(c, formatv("tmap.contract {0}, {1} over [{2}] : {3}, {4} -> {5}", a.name,
                  b.name, over == "K" ? "K" : "L, K", typeOf(a), typeOf(b),
                  typeOf(c)));
  count("contract " + type);
  count("batch axes " + std::to_string(batch.size()));
  count("summed axes " + std::to_string(over.size()));
  count("free axes " + std::to_string(free.size() - batch.size()));
  return c;
}

Tensor Generator::elementwise(Tensor x) {
  Tensor y = define(x.type, x.axes);
  bool real = x.type == "f32";
  if (real && chance(25)) {
    std::string fn = pick<std::string>({"exp", "tanh", "sigmoid", "sqrt"});
    line(y, formatv("tmap.elementwise {0} {1} : ({2}) -> {3}", fn, x.name,
                    typeOf(x), typeOf(y)));
    count("elementwise unary");
    return y;
  }
  std::string fn =
      real ? pick<std::string>({"add", "sub", "mul", "div", "max", "min"})
           : pick<std::string>({"add", "sub", "mul_int", "max", "and", "xor",
                                "add_sat", "abs_min"});
  Tensor other;
  switch (random() % 4) {
  case 0:
    other = constant(x.type);
    count("operand constant");
    break;
  case 1:
    other = x;
    count("operand itself");
    break;
  case 2:
    other = widened(x.type, chance(70) ? x.axes : shuffle(x.axes));
    count("operand of all axes");
    break;
  default: {
    std::string some;
    for (char axis : x.axes)
      if (chance(50))
        some += axis;
    other = widened(x.type, some);
    count("operand of " + std::to_string(some.size()) + " axes");
  }
  }
  if (chance(20)) {
    fn = pick<std::string>({"equal", "not_equal", "less", "less_equal",
                            "greater", "greater_equal"});
    count("comparison");
  }
  if (chance(50))
    std::swap(x, other);
  line(y, formatv("tmap.elementwise {0} {1}, {2} : ({3}, {4}) -> {5}", fn,
                  x.name, other.name, typeOf(x), typeOf(other), typeOf(y)));
  count("elementwise binary");
  if (chance(25)) {
    Tensor condition = y;
    std::string type = pick<std::string>({"i32", "f32"});
    Tensor left = chance(50) ? constant(type) : widened(type, condition.axes);
    Tensor right = chance(30) ? constant(type) : widened(type, condition.axes);
    y = define(type, condition.axes);
    line(y, formatv("tmap.elementwise select {0}, {1}, {2} : ({3}, {4}, {5}) "
                    "-> {6}",
                    condition.name, left.name, right.name, typeOf(condition),
                    typeOf(left), typeOf(right), typeOf(y)));
    count("select");
  }
  return y;
}

/// A function whose operands have some axes of the result each.
Tensor Generator::outer(const std::string &axes) {
  std::string type = pick<std::string>({"i32", "f32"});
  std::string used;
  auto operand = [&](const std::string &type) {
    std::string some;
    for (char axis : axes)
      if (chance(60))
        some += axis;
    used += some;
    return widened(type, chance(75) ? some : shuffle(some));
  };
  auto result = [&] {
    std::string all;
    for (char axis : axes)
      if (used.find(axis) != std::string::npos)
        all += axis;
    return define(type, all);
  };
  if (chance(60)) {
    Tensor a = operand(type), b = operand(type), y = result();
    line(y, formatv("tmap.elementwise {0} {1}, {2} : ({3}, {4}) -> {5}",
                    pick<const char *>({"add", "sub", "max", "less"}), a.name,
                    b.name, typeOf(a), typeOf(b), typeOf(y)));
    count("outer binary");
    return y;
  }
  Tensor condition = operand(pick<std::string>({"i32", "f32"}));
  Tensor a = operand(type), b = chance(30) ? constant(type) : operand(type);
  Tensor y = result();
  line(y, formatv("tmap.elementwise select {0}, {1}, {2} : ({3}, {4}, {5}) "
                  "-> {6}",
                  condition.name, a.name, b.name, typeOf(condition), typeOf(a),
                  typeOf(b), typeOf(y)));
  count("outer select");
  return y;
}

Tensor Generator::reduce(const Tensor &x) {
  std::string kept = x.axes, over;
  do {
    size_t at = random() % kept.size();
    over += kept[at];
    kept.erase(at, 1);
  } while (!kept.empty() && chance(20));
  Tensor y = define(x.type, kept);
  std::string list;
  for (char axis : over)
    list += std::string(list.empty() ? "" : ", ") + axis;
  std::string fn = x.type == "f32"
                       ? pick<std::string>({"add", "max", "min"})
                       : pick<std::string>({"add_sat", "max", "min"});
  line(y, formatv("tmap.reduce {0} {1} over [{2}] : {3} -> {4}", fn, x.name,
                  list, typeOf(x), typeOf(y)));
  count("reduce over " + std::to_string(over.size()));
  return y;
}

/// All axes as one.
Tensor Generator::reshape(const Tensor &x) {
  int64_t size = 1;
  for (const Axis &axis : axes)
    if (x.axes.find(axis.name) != std::string::npos)
      size *= axis.size;
  axes.push_back({'R', size});
  Tensor y = define(x.type, "R");
  line(y,
       formatv("tmap.reshape {0} : {1} -> {2}", x.name, typeOf(x), typeOf(y)));
  count("reshape");
  return y;
}

std::string Generator::write() {
  axes = {{'B', pick<int64_t>({1, 2, 3, 5})},
          {'H', pick<int64_t>({2, 3, 4})},
          {'I', pick<int64_t>({1, 3, 8, 16, 37, 64, 100, 128})},
          {'J', pick<int64_t>({1, 5, 8, 13, 24, 64, 96, 131, 256})},
          {'K', pick<int64_t>({1, 3, 16, 32, 37, 64, 100, 128, 200})},
          {'L', pick<int64_t>({1, 2, 3})},
          {'T', 1},
          {'Y', pick<int64_t>({1, 4, 9, 30, 128})}};
  // Sums that are taken in parts; a window would be a copy for each cell.
  hasLongSums = chance(12);
  if (hasLongSums) {
    axes[2].size = pick<int64_t>({1, 3, 8});
    axes[3].size = pick<int64_t>({1, 5, 16});
    axes[4].size =
        pick<int64_t>({2056, 4096, 4099, 5001, 6000, 8256, 9001, 16384});
    count("long sums");
  }
  Tensor value;
  if (chance(60)) {
    value = contract();
  } else if (chance(40)) {
    value = outer(pick<std::string>({"I", "IJ", "BIJ", "JI", "HK"}));
  } else {
    std::string all = pick<std::string>({"I", "J", "IJ", "BIJ", "JI", "HK"});
    value = widened(pick<std::string>({"i32", "f32"}), all);
  }
  unsigned ops = random() % 4;
  for (unsigned i = 0; i < ops; ++i) {
    if (!value.axes.empty() && chance(20))
      value = reduce(value);
    else
      value = elementwise(value);
  }
  if (!value.axes.empty() && chance(10))
    value = reshape(value);
  // Rows of four bits are whole bytes.
  auto isEven = [&](char name) {
    return llvm::any_of(axes, [&](const Axis &axis) {
      return axis.name == name && axis.size % 2 == 0;
    });
  };
  if (value.type == "i32" && !value.axes.empty() && isEven(value.axes.back()) &&
      chance(40))
    value = cast(value, "i4");
  else if (chance(40))
    value = cast(value,
                 value.type == "f32"
                     ? pick<std::string>({"bf16", "f8E4M3FN", "f8E5M2", "i32"})
                     : pick<std::string>({"i8", "i16", "f32"}));
  Tensor moved = define(value.type, shuffle(value.axes));
  if ((value.type != "i4" || isEven(moved.axes.back())) &&
      value.axes.size() > 1 && chance(20)) {
    line(moved, formatv("tmap.move {0} : {1} -> {2}", value.name, typeOf(value),
                        typeOf(moved)));
    value = moved;
    count("move");
  }
  std::string text = "#axes = #tmap.axes<";
  for (const Axis &axis : axes)
    text += formatv("{0}{1} = {2}", axis.name == 'B' ? "" : ", ", axis.name,
                    axis.size);
  text += ">\nfunc.func @kernel(";
  for (const Tensor &tensor : arguments)
    text += formatv("{0}{1}: {2}", tensor.name == "%a0" ? "" : ", ",
                    tensor.name, typeOf(tensor));
  return text + formatv(") -> {0} attributes {{visa.kernel} {{\n{1}  return "
                        "{2} : {0}\n}\n",
                        typeOf(value), body, value.name)
                    .str();
}

/// The results of the kernel in the interpreter after the conversion.
static void runConverted(const std::string &text,
                         llvm::ArrayRef<HostArray> arguments,
                         std::vector<HostArray> &results) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  interpreter::registerInterpreterModels(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  mlir::PassManager passes(&context);
  passes.addPass(createConvertTMapToVISA());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  mlir::func::FuncOp kernel;
  module->walk([&](mlir::func::FuncOp op) { kernel = op; });
  auto values = interpreter::interpret(kernel, arguments);
  ASSERT_TRUE(succeeded(values));
  results = std::move(*values);
}

/// Shards run beside each other.
class TensorKernelsTest : public testing::TestWithParam<unsigned> {};

TEST_P(TensorKernelsTest, GeneratedProgramsAgree) {
  GeneratedCases cases(100);
  Histogram histogram;
  for (unsigned i = 0; i < cases.count; ++i) {
    unsigned seed = cases.first + GetParam() * cases.count + i;
    std::string text = Generator(seed, histogram).write();
    SCOPED_TRACE("FURIOSA_SEED=" + std::to_string(seed) + "\n" + text);
    Built built;
    build(text, built);
    if (testing::Test::HasFatalFailure())
      return;
    for (const char *fill : {"quarter", "random"}) {
      std::vector<HostArray> arguments = makeArguments(built, fill);
      std::vector<HostArray> expected, converted;
      // The interpreter of tmap and the simulator.
      std::string difference = runBoth(built, arguments, expected, 1);
      ASSERT_EQ(difference, "") << fill;
      runConverted(text, arguments, converted);
      ASSERT_EQ(converted.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(converted[i].codes, expected[i].codes) << fill;
        EXPECT_EQ(converted[i].defined, expected[i].defined) << fill;
      }
    }
    if (testing::Test::HasFailure())
      return;
  }
  printHistogram(histogram, cases.count);
}

INSTANTIATE_TEST_SUITE_P(Shards, TensorKernelsTest, testing::Values(0, 1, 2));
