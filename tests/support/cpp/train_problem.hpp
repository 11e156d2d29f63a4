// An attention call with its backward pass, for tests to bend.
#pragma once

#include "problem.hpp"
#include "qkv/train/attention.hpp"
#include "train_oracle.hpp"

namespace qkv::test {

/// What attention_backward() wrote.
struct Gradients {
  std::vector<float> dq, dk, dv, d_bias, d_sinks;
};

class BackwardProblem {
 public:
  BackwardProblem(const Shape& s, std::uint64_t seed);

  /// The backward call on what the forward call wrote; run() or forward() first.
  [[nodiscard]] train::AttentionBackwardArgs args();
  /// Runs the forward call, which must succeed.
  void forward();
  /// Runs both calls, which must succeed.
  const Gradients& run() &;
  /// Runs both and asserts that every gradient is within its bound.
  void check(Bounds bounds = Bounds::kMeaningful);
  /// The same call in double precision, with the dropout mask of the forward call.
  [[nodiscard]] oracle::AttentionGradients exact();
  void add_sinks(std::uint64_t seed);

  Problem forward_call;
  std::vector<float> d_out, sinks;
  Gradients gradients;
  Workspace workspace;
};

}  // namespace qkv::test
