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
  /// The same against the gradients of the weights that attention() returns, with the bound that does not know the size of
  /// scores.
  void check_against_weights();
  /// The same call in double precision, with the dropout mask of the forward call.
  [[nodiscard]] oracle::AttentionGradients exact();
  void add_sinks(std::uint64_t seed);

 private:
  /// Asserts that each gradient is within the error of a weight, and that of the sums; `family` as Quantity has it.
  void require(const oracle::AttentionGradients& of, double of_weights, Bounds bounds,
               const char* family = "") const;

 public:
  Problem forward_call;
  std::vector<float> d_out, sinks;
  Gradients gradients;
  Workspace workspace;
};

}  // namespace qkv::test
