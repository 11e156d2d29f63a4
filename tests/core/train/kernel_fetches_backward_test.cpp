// A public call of the training library asks once which kernels are active.
#include <catch2/catch_test_macros.hpp>

#include <type_traits>
#include <vector>

#include "kernel_fetches.hpp"
#include "train_problem.hpp"
#include "train_trainers.hpp"

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

TEST_CASE("kernels: every call of a trainer fetches them once, however many operators it has",
          "[train][trainer]") {
  for_each_trainer([](const auto& of) {
    CAPTURE(of.name);
    auto trainer = make_trainer(of, {.dropout = 0.25F});
    auto other = make_trainer(of, {.dropout = 0.25F});
    const typename std::decay_t<decltype(of)>::Rows rows(3, 7, 1);
    Workspace workspace;
    train::StepResult step;
    train::Evaluation evaluation;
    std::vector<float> expected;
    require_ok(other.step(rows.view(), workspace, step));
    {
      const KernelFetches fetches;
      require_ok(trainer.step(rows.view(), workspace, step));
      CHECK(fetches.count() == 1);
    }
    CHECK(first_difference(state_of(other), state_of(trainer)) == "");
    {
      const KernelFetches fetches;
      require_ok(trainer.differentiate(rows.view(), workspace, evaluation));
      CHECK(fetches.count() == 1);
    }
    {
      const KernelFetches fetches;
      require_ok(trainer.evaluate(rows.view(), workspace, evaluation));
      CHECK(fetches.count() == 1);
    }
    expected = of.logits(other, rows.view(), workspace);
    const KernelFetches fetches;
    const std::vector<float> found = of.logits(trainer, rows.view(), workspace);
    CHECK(fetches.count() == 1);
    CHECK(first_difference(expected, found) == "");
  });
}

}  // namespace
}  // namespace qkv::test::kernel_fetches_backward_test
