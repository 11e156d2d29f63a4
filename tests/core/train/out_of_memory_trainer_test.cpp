// What trainers do when memory runs out: every request of every call may fail.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "compare.hpp"
#include "failing_memory.hpp"
#include "problem.hpp"
#include "train_trainers.hpp"

namespace qkv::test::out_of_memory_trainer_test {
namespace {

/// A trainer for one call, and room for what the call writes.
template <class Of>
struct Setting {
  /// With `steps` behind it, on batches of another shape, so that the call records its tape once more.
  Setting(const Of& kind, int steps) : of(kind) {
    train::TrainerOptions options;
    options.dropout = 0.1F;
    options.deviation = 0.2F;
    trainer = make_trainer(of, options);
    Workspace other;
    for (int n = 0; n < steps; ++n) {
      make_step(of, trainer, 1, other);
    }
  }
  /// What was written, and nothing else.
  [[nodiscard]] std::vector<float> seen() const {
    std::vector<float> all = written;
    all.insert(all.end(), said.begin(), said.end());
    all.insert(all.end(), lengths.begin(), lengths.end());
    return all;
  }

  Of of;
  typename Of::Trainer trainer;
  typename Of::Rows rows{5, 8, 3};
  Workspace workspace;
  std::vector<float> written = std::vector<float>(5000, kUntouched);
  std::vector<std::int32_t> said = std::vector<std::int32_t>(5 * 8, -1);
  std::vector<std::int32_t> lengths = std::vector<std::int32_t>(5, -1);
};

template <class Of>
using Call = Status (*)(Setting<Of>&);

/// The loss of rows of this shape.
template <class Of>
double loss_of(Setting<Of>& p, Index batch, Index tokens) {
  const typename Of::Rows rows(batch, tokens, 1);
  Workspace workspace;
  train::Evaluation found;
  require_ok(p.trainer.evaluate(rows.view(), workspace, found));
  return found.loss;
}

/// Fails each request of the call in turn: it says so, leaves weights, moments, steps and what it would have written as they
/// were, and then gives the bits of a call that nothing disturbed; so does the step after it. Returns how many requests failed.
template <class Of>
int require_survives(const Of& of, int steps, Call<Of> call) {
  CAPTURE(of.name, steps);
  Setting<Of> undisturbed(of, steps);
  require_ok(call(undisturbed));
  const std::vector<float> expected = state_of(undisturbed.trainer);
  Setting<Of> asked(of, steps);
  const double loss = loss_of(asked, 3, 7);
  const std::size_t bytes = allocated_bytes();
  int request = 0;
  for (bool failed = true; failed; ++request) {
    CAPTURE(request);
    Setting<Of> p(of, steps);
    const std::vector<float> before = state_of(p.trainer);
    const std::vector<float> untouched = p.seen();
    Status status;
    int others = 0;
    {
      const FailingMemory memory(request);
      status = call(p);
      failed = memory.failed();
      others = memory.other_requests();
    }
    REQUIRE(others == 0);
    if (failed) {
      REQUIRE(status.code() == StatusCode::kOutOfMemory);
      REQUIRE(std::string(status.message()).find("out of memory: ") != std::string::npos);
      REQUIRE(first_difference(before, state_of(p.trainer)) == "");
      REQUIRE(first_difference(untouched, p.seen()) == "");
      // Nor is a tape that was only begun taken for the one of the steps before.
      REQUIRE(loss_of(p, 3, 7) == loss);
      status = call(p);
    }
    require_ok(status);
    REQUIRE(first_difference(expected, state_of(p.trainer)) == "");
    REQUIRE(first_difference(undisturbed.seen(), p.seen()) == "");
    REQUIRE(first_difference(gradients_of(undisturbed.trainer), gradients_of(p.trainer)) == "");
  }
  CHECK(allocated_bytes() == bytes);
  CHECK(request - 1 >= 3);  // values and gradients of the tape, the workspace
  return request - 1;
}

/// The same for a trainer that has made no step, whose lists have no memory yet, and for one that has.
template <class Of>
int require_survives(const Of& of, const char* name, Call<Of> call) {
  CAPTURE(name);
  return require_survives(of, 0, call) + require_survives(of, 2, call);
}

/// What an evaluation came to, as floats.
void keep(const train::Evaluation& found, std::vector<float>& written) {
  written[0] = static_cast<float>(found.loss);
  written[1] = static_cast<float>(found.accuracy);
  written[2] = static_cast<float>(found.counted);
}

template <class Of>
Status evaluate(Setting<Of>& p) {
  train::Evaluation found;
  const Status status = p.trainer.evaluate(p.rows.view(), p.workspace, found);
  if (status.ok()) {
    keep(found, p.written);
  }
  return status;
}

template <class Of>
Status differentiate(Setting<Of>& p) {
  train::Evaluation found;
  const Status status = p.trainer.differentiate(p.rows.view(), p.workspace, found);
  if (status.ok()) {
    keep(found, p.written);
  }
  return status;
}

template <class Of>
Status accumulate(Setting<Of>& p) {
  train::Evaluation found;
  const Status status = p.trainer.accumulate(p.rows.view(), p.workspace, found);
  if (status.ok()) {
    keep(found, p.written);
  }
  return status;
}

template <class Of>
Status step(Setting<Of>& p) {
  train::StepResult result;
  const Status status = p.trainer.step(p.rows.view(), p.workspace, result);
  if (status.ok()) {
    keep(result.before, p.written);
  }
  return status;
}

/// Logits alone.
template <class Of>
Status forward(Setting<Of>& p) {
  return p.trainer.forward(p.rows.view().tokens, {p.written.data(), {5, 8, 11}}, {}, p.workspace);
}

/// All that is read of a language model, the layers in any order.
Status read(Setting<OfLanguageModel>& p) {
  float* to = p.written.data() + 5 * 8 * 11;
  const auto take = [&](std::initializer_list<Index> shape) {
    const TensorView<float> view(to, shape);
    to += view.size();
    return view;
  };
  train::LayerReading readings[2];
  for (Index n = 0; n < 2; ++n) {
    readings[n] = {.layer = 1 - n,
                   .weights = take({5, 4, 8, 8}),
                   .entropy = take({5, 4, 8}),
                   .residual = take({5, 8, 12})};
  }
  return p.trainer.forward(p.rows.view().tokens, {p.written.data(), {5, 8, 11}}, readings,
                           p.workspace);
}

/// Logits and the weights of all layers.
Status read(Setting<OfSeq2Seq>& p) {
  const bool blocks = p.of.kind == train::Seq2SeqKind::kTransformer;
  const TensorView<float> weights(p.written.data() + 5 * 8 * 11,
                                  {blocks ? 10 : 5, blocks ? 3 : 1, 8, 5});
  return p.trainer.forward(p.rows.view().tokens, {p.written.data(), {5, 8, 11}},
                           p.of.kind == train::Seq2SeqKind::kGru ? TensorView<float>() : weights,
                           p.workspace);
}

Status translate(Setting<OfSeq2Seq>& p) {
  return p.trainer.translate({.source = p.rows.view().tokens.source,
                              .source_lengths = p.rows.view().tokens.source_lengths,
                              .start = 0,
                              .end = 1,
                              .ids = {p.said.data(), {5, 8}},
                              .lengths = {p.lengths.data(), {5}}},
                             p.workspace);
}

Status reach(Setting<OfSeq2Seq>& p) {
  return p.trainer.reach({p.rows.source.data(), {5}}, {p.written.data(), {5}}, p.workspace);
}

TEST_CASE("out of memory: every request of every call of a trainer may fail",
          "[train][memory][out-of-memory]") {
  int requests = 0;
  for_each_trainer([&](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    requests += require_survives<Of>(of, "step", step<Of>);
    requests += require_survives<Of>(of, "differentiate", differentiate<Of>);
    requests += require_survives<Of>(of, "evaluate", evaluate<Of>);
    requests += require_survives<Of>(of, "accumulate", accumulate<Of>);
    requests += require_survives<Of>(of, "forward", forward<Of>);
    requests += require_survives<Of>(of, "forward with readings", read);
  });
  for_each_translator([&](const OfSeq2Seq& of) {
    requests += require_survives<OfSeq2Seq>(of, "translate", translate);
    requests += require_survives<OfSeq2Seq>(of, "reach", reach);
  });
  std::printf("out of memory: %d requests of trainers failed, one at a time\n", requests);
}

TEST_CASE("out of memory: every request of create may fail, and the trainer is as it was",
          "[train][memory][out-of-memory]") {
  for_each_trainer([](const auto& of) {
    using Trainer = typename std::decay_t<decltype(of)>::Trainer;
    CAPTURE(of.name);
    Workspace workspace;
    Trainer trainer = make_trainer(of);
    make_step(of, trainer, 1, workspace);
    const std::vector<float> before = state_of(trainer);
    const std::vector<float> fresh = [&] {
      Trainer other = make_trainer(of);
      return state_of(other);
    }();
    int request = 0;
    for (bool failed = true; failed; ++request) {
      CAPTURE(request);
      const std::size_t bytes = allocated_bytes();
      Status status;
      int others = 0;
      {
        const FailingMemory memory(request);
        status = Trainer::create(of.config(), {}, trainer);
        failed = memory.failed();
        others = memory.other_requests();
      }
      REQUIRE(others == 0);
      if (failed) {
        REQUIRE(status.code() == StatusCode::kOutOfMemory);
        REQUIRE(allocated_bytes() == bytes);
        REQUIRE(first_difference(before, state_of(trainer)) == "");
      }
    }
    CHECK(request - 1 >=
          4);  // the state, lists of arrays, of layers and of parameters, the weights
    CHECK(first_difference(fresh, state_of(trainer)) == "");
  });
}

TEST_CASE("out of memory: a trainer that is filled from a file asks for nothing",
          "[train][memory][out-of-memory]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    Setting<Of> p(of, 2);
    int requests = 0;
    Status status;
    {
      const FailingMemory memory(0);
      for (Index i = 0; i < p.trainer.array_count(); ++i) {
        std::fill_n(p.trainer.array(i).value.data, p.trainer.array(i).value.size(), 0.5F);
        std::fill_n(p.trainer.moments(i).first, p.trainer.array(i).value.size(), 0.0F);
      }
      status = p.trainer.set_steps(7);
      requests = memory.aligned_requests() + memory.other_requests();
    }
    require_ok(status);
    CHECK(requests == 0);
    CHECK(p.trainer.steps() == 7);
  });
}

TEST_CASE("trainers: after the first step of a shape nothing is asked for",
          "[train][memory][out-of-memory]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    Setting<Of> p(of, 2);
    require_ok(step(p));
    int requests = 0;
    Status status;
    {
      const FailingMemory memory(-1);
      status = step(p);
      const Status second = evaluate(p);
      status = status.ok() ? second : status;
      requests = memory.aligned_requests() + memory.other_requests();
    }
    require_ok(status);
    CHECK(requests == 0);
  });
}

}  // namespace
}  // namespace qkv::test::out_of_memory_trainer_test
