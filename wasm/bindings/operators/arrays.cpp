// Operators from arrays to arrays: norms, activations, tables, statistics.
#include <utility>

#include "support.hpp"

namespace qkv::wasm {

Status learnedEncoding(const LearnedEncodingFields& given) noexcept {
  return learned_encoding(given.table, given.out, given.offset, given.out_of_range);
}

Status layerNorm(const LayerNormFields& given) noexcept {
  return layer_norm(given.x, given.out,
                    {.gamma = given.gamma,
                     .beta = given.beta,
                     .axis = -1,
                     .epsilon = static_cast<float>(given.epsilon)});
}

Status rmsNorm(const RmsNormFields& given) noexcept {
  return rms_norm(given.x, given.out,
                  {.gamma = given.gamma, .axis = -1, .epsilon = static_cast<float>(given.epsilon)});
}

Status gelu(const GeluFields& given) noexcept {
  return activate(given.x, given.out, given.activation);
}

Status softmax(const SoftmaxFields& given) noexcept {
  // x is [before, n, after] here: the axes before the one requested, and those after it, are one each.
  return qkv::softmax(given.x, given.out,
                      {.axis = 1, .temperature = static_cast<float>(given.temperature)});
}

Status embedding(const EmbeddingFields& given) noexcept {
  return qkv::embedding(given.table, given.ids, given.out);
}

Status entropy(const EntropyFields& given) noexcept {
  return row_entropy(given.weights, given.out);
}

Status headStatistics(const HeadStatisticsFields& given) noexcept {
  return head_statistics(given.weights, {.entropy = given.entropy,
                                         .distance = given.distance,
                                         .max_weight = given.max_weight,
                                         .first_key = given.first_key});
}

Status attentionRollout(const AttentionRolloutFields& given) noexcept {
  return attention_rollout(given.weights, given.out, scratch());
}

}  // namespace qkv::wasm
