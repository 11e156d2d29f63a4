// Causal attention as a decoder runs it: the prompt in one call, then one token at a time, with the keys and values of all earlier tokens
// in a cache. The rows are those of one call over all tokens, as the last line of the output shows. Threads share the work of each call.
#include <qkv/qkv.hpp>
#include <qkv/threads.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr qkv::Index kTokens = 24, kPrompt = 16;
constexpr qkv::Index kModel = 64, kHeads = 4, kWidth = kModel / kHeads;
constexpr qkv::Index kKvHeads = 2;  // each for two query heads: half the cache

using Numbers = std::vector<float>;

/// Numbers from -size to size, the same on every machine.
Numbers drawn(qkv::Index count, double size, std::minstd_rand& random) {
  Numbers numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) {
    const double share = static_cast<double>(random()) / std::minstd_rand::modulus;
    number = static_cast<float>(size * (2 * share - 1));
  }
  return numbers;
}

/// A layer with random weights, which it copies.
qkv::Status make_layer(std::minstd_rand& random, qkv::MultiHeadAttention& layer) {
  qkv::MultiHeadAttentionConfig config;
  config.d_model = kModel;
  config.num_heads = kHeads;
  config.num_kv_heads = kKvHeads;
  config.rotary.emplace();  // tokens know how far they are from each other
  const qkv::Index kv = kKvHeads * kWidth;
  const Numbers wq = drawn(kModel * kModel, 0.5, random);
  const Numbers wk = drawn(kModel * kv, 0.5, random);
  const Numbers wv = drawn(kModel * kv, 0.5, random);
  const Numbers wo = drawn(kModel * kModel, 0.5, random);
  return qkv::MultiHeadAttention::create(config,
                                         {.wq = {wq.data(), {kModel, kModel}},
                                          .wk = {wk.data(), {kModel, kv}},
                                          .wv = {wv.data(), {kModel, kv}},
                                          .wo = {wo.data(), {kModel, kModel}}},
                                         layer);
}

/// The rows of all tokens in one call.
qkv::Status at_once(const qkv::MultiHeadAttention& layer, const Numbers& x, Numbers& y,
                    qkv::Workspace& workspace) {
  return layer.forward({.x = {x.data(), {1, kTokens, kModel}},
                        .y = {y.data(), {1, kTokens, kModel}},
                        .options = {.causal = true}},
                       workspace);
}

/// The same rows with a cache; and what the last token reads, [kHeads, kTokens].
qkv::Status step_by_step(const qkv::MultiHeadAttention& layer, const Numbers& x, Numbers& y,
                         Numbers& weights, qkv::Workspace& workspace) {
  qkv::KvCache cache;
  if (qkv::Status status = qkv::KvCache::create(
          {.num_kv_heads = kKvHeads, .capacity = kTokens, .d_k = kWidth}, cache);
      !status.ok()) {
    return status;
  }
  for (qkv::Index first = 0, count = kPrompt; first < kTokens; first += count, count = 1) {
    // Each call writes what its last row reads; that of the last call stays.
    const qkv::AttentionExtras extras = {.weights = {weights.data(), {1, kHeads, 1, first + count}},
                                         .row_begin = count - 1};
    if (qkv::Status status = layer.forward({.x = {&x[first * kModel], {1, count, kModel}},
                                            .y = {&y[first * kModel], {1, count, kModel}},
                                            .options = {.causal = true},
                                            .extras = extras,
                                            .cache = &cache},
                                           workspace);
        !status.ok()) {
      return status;
    }
  }
  return {};
}

qkv::Status run() {
  std::minstd_rand random(1);
  qkv::MultiHeadAttention layer;
  if (qkv::Status status = make_layer(random, layer); !status.ok()) {
    return status;
  }
  const Numbers x = drawn(kTokens * kModel, 1, random);
  Numbers whole(x.size()), stepwise(x.size()), weights(kHeads * kTokens);
  qkv::Threads threads(std::thread::hardware_concurrency());
  qkv::Workspace workspace(&threads.pool());  // kept: the first call allocates for all
  if (qkv::Status status = at_once(layer, x, whole, workspace); !status.ok()) {
    return status;
  }
  if (qkv::Status status = step_by_step(layer, x, stepwise, weights, workspace); !status.ok()) {
    return status;
  }
  for (qkv::Index head = 0; head < kHeads; ++head) {
    const float* row = &weights[head * kTokens];
    const float* most = std::max_element(row, row + kTokens);
    std::printf("head %d: the last token reads token %d most, %.3f\n", static_cast<int>(head),
                static_cast<int>(most - row), *most);
  }
  float difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = std::max(difference, std::abs(whole[i] - stepwise[i]));
  }
  std::printf("the last row begins with %.4f; one call and many differ by %.1g at most\n",
              stepwise[(kTokens - 1) * kModel], difference);
  return {};
}

}  // namespace

int main() {
  const qkv::Status status = run();
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message());
  }
  return status.ok() ? 0 : 1;
}
