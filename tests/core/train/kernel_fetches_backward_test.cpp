// A public call of the training library asks once which kernels are active.
#include <catch2/catch_test_macros.hpp>

#include "kernel_fetches.hpp"
#include "train_problem.hpp"

namespace qkv::test::kernel_fetches_backward_test {
namespace {

TEST_CASE("kernels: attention_backward fetches them once", "[train]") {
  BackwardProblem p({.batch = 2, .heads = 4, .kv_heads = 2, .tq = 9, .tk = 70, .dk = 8, .dv = 5},
                    1);
  const Gradients expected = p.run();
  const train::AttentionBackwardArgs args = p.args();
  const KernelFetches fetches;
  require_ok(train::attention_backward(args, p.workspace));
  REQUIRE(fetches.count() == 1);
  CHECK(first_difference(expected.dq, p.gradients.dq) == "");
  CHECK(first_difference(expected.dk, p.gradients.dk) == "");
  CHECK(first_difference(expected.dv, p.gradients.dv) == "");
}

}  // namespace
}  // namespace qkv::test::kernel_fetches_backward_test
