#include "judge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

namespace qkv::test {

/// How meaningful a bound is depends on the input, which may be anything.
void require_within(const Comparison& comparison, Bounds /*bounds*/) {
  for (const Quantity& quantity : comparison.quantities) {
    if (!(quantity.ratio() <= 1.0)) {
      fuzz::fail("%s: %s", quantity.name().c_str(), quantity.worst().c_str());
    }
  }
}

}  // namespace qkv::test

namespace qkv::fuzz {
namespace {

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

void require_names_an_argument(const Call& call, const Status& status) {
  const std::string message = status.message();
  if (message.starts_with("out of memory: ") && status.code() == StatusCode::kOutOfMemory) {
    return;
  }
  if (!message.starts_with(std::string(call.function) + ": ")) {
    fail("%s: refused with \"%s\"", call.function, message.c_str());
  }
  for (const char* argument : call.arguments) {
    if (message.find(argument) != std::string::npos) {
      return;
    }
  }
  fail("%s: no argument is named by \"%s\"", call.function, message.c_str());
}

/// What the call came to on the first instruction set, for the others to agree with.
struct First {
  bool is_set = false;
  Status status;
  std::vector<float> narrow;  ///< outputs of scalar or sse4, whichever was first
  bool has_narrow = false;
};

/// The same answer. How much memory could not be allocated depends on the width of the tiles.
bool same(const Status& a, const Status& b) {
  return a.code() == b.code() &&
         (a.code() == StatusCode::kOutOfMemory || std::strcmp(a.message(), b.message()) == 0);
}

void judge_page(Arena& arena, const Call& call, const char* isa, First& first) {
  arena.restore();
  const Status status = call.run();
  if (first.is_set && !same(status, first.status)) {
    fail("%s: %s says \"%s\", another \"%s\"", call.function, isa, status.message(),
         first.status.message());
  }
  first.is_set = true;
  first.status = status;
  if (!status.ok()) {
    require_names_an_argument(call, status);
    arena.require_untouched(call.function);
    return;
  }
  arena.require_only_outputs(call.function);
  if (!arena.spoiled()) {
    call.compare();
  }
  const bool narrow = std::strcmp(isa, "scalar") == 0 || std::strcmp(isa, "sse4") == 0;
  if (!narrow || !call.same_bits) {
    return;
  }
  const std::vector<float> written = arena.outputs();
  for (std::size_t i = 0; first.has_narrow && i < written.size(); ++i) {
    if (!same(written[i], first.narrow[i])) {
      fail("%s: value %zu is %.9g on sse4 and %.9g on scalar", call.function, i,
           static_cast<double>(first.narrow[i]), static_cast<double>(written[i]));
    }
  }
  first.narrow = written;
  first.has_narrow = true;
}

}  // namespace

void judge(Arena& arena, const Call& call) {
  arena.remember();
  First first;
  for (int i = 0; i < isa_count(); ++i) {
    if (isa_supported(i)) {
      if (!select_isa(isa_name(i)).ok()) {
        fail("select_isa: refuses %s, which is supported", isa_name(i));
      }
      judge_page(arena, call, isa_name(i), first);
    }
  }
}

bool all_moderate(std::initializer_list<TensorView<const float>> views) {
  const auto moderate = [](float x) {
    return x == 0.0F || (std::abs(x) >= 0x1p-40F && std::abs(x) <= 0x1p40F);
  };
  return std::all_of(views.begin(), views.end(), [&](const TensorView<const float>& view) {
    const std::vector<float> values =
        view.absent() || view.size() == 0 ? std::vector<float>() : test::values_of(view);
    return std::all_of(values.begin(), values.end(), moderate);
  });
}

}  // namespace qkv::fuzz

/// Requests too large to serve return null, as they do without the sanitizer.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "allocator_may_return_null=1:max_allocation_size_mb=1024";
}
