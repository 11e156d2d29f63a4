#include "problem.hpp"

#include <catch2/catch_test_macros.hpp>

namespace qkv::test {

void require_ok(const Status& status) {
  INFO(status_code_name(status.code()) << ": " << status.message());
  REQUIRE(status.ok());
}

void Problem::exclude_at_random(Random& random) {
  const Shape& s = shape;
  const auto either = [&](Index extent) { return random.chance(0.5) ? extent : Index{1}; };
  if (random.chance(0.5)) {
    add_mask({either(s.batch), either(s.heads), either(s.tq), either(s.tk)});
  }
  if (random.chance(0.5)) {
    add_bias({either(s.batch), either(s.heads), either(s.tq), either(s.tk)});
  }
  if (random.chance(0.5)) {
    causal(random.below(2 * s.tk + 1) - s.tk / 2);
  }
}

const Result& Problem::run() & {
  require_ok(attention(args(), workspace));
  return result;
}

void Problem::check(Bounds bounds) {
  run();
  require_within(compare_attention(args()), bounds);
}

std::vector<float> Problem::row(const Result& of, oracle::RowId id) const {
  const Index r = (id.b * shape.heads + id.h) * shape.tq + id.i;
  std::vector<float> all;
  all.insert(all.end(), of.out.begin() + r * shape.dv, of.out.begin() + (r + 1) * shape.dv);
  all.insert(all.end(), of.weights.begin() + r * shape.tk, of.weights.begin() + (r + 1) * shape.tk);
  all.push_back(of.lse[static_cast<std::size_t>(r)]);
  all.push_back(of.entropy[static_cast<std::size_t>(r)]);
  return all;
}

}  // namespace qkv::test
