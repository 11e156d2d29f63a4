// What Catch2 is told of a comparison. Apart from compare.cpp, which the fuzz targets use without Catch2.
#include <catch2/catch_test_macros.hpp>
#include <catch2/interfaces/catch_interfaces_capture.hpp>

#include "ceilings.hpp"
#include "compare.hpp"

namespace qkv::test {
namespace {

constexpr Ceiling kCeilings[] = {
#define QKV_CEILING(name, ceiling, worst, where) {name, ceiling},
#include "ceilings.def"
#undef QKV_CEILING
};

const Ceiling* ceiling_of(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(kCeilings), std::end(kCeilings),
                   [&](const Ceiling& ceiling) { return name == ceiling.name; });
  return found == std::end(kCeilings) ? nullptr : found;
}

void remember(const Quantity& quantity) {
  const auto [at, is_new] = worst_ratios().try_emplace(quantity.name());
  Worst& worst = at->second;
  if (is_new || quantity.ratio() > worst.ratio) {
    worst = {quantity.ratio(), Catch::getResultCapture().getCurrentTestName()};
  }
}

void check(Quantity quantity, Bounds bounds) {
  if (bounds == Bounds::kAny) {
    quantity.set_family(", extreme");
  }
  remember(quantity);
  const Ceiling* ceiling = ceiling_of(quantity.name());
  CHECK(problem_with(quantity, bounds, ceiling ? &ceiling->ratio : nullptr) == "");
}

}  // namespace

std::span<const Ceiling> ceilings() { return kCeilings; }

std::map<std::string, Worst>& worst_ratios() {
  static std::map<std::string, Worst> map;
  return map;
}

void require_within(const Comparison& comparison, Bounds bounds) {
  CHECK(!comparison.quantities.empty());
  for (const Quantity& quantity : comparison.quantities) {
    check(quantity, bounds);
  }
}

void require_within(const Quantity& quantity) { check(quantity, Bounds::kMeaningful); }

}  // namespace qkv::test
