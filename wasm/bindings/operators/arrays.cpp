// Operators from arrays to arrays: norms, activations, tables, statistics.
#include "support.hpp"
#include "operators.hpp"
#include "qkv/qkv.hpp"

namespace qkv::wasm {
namespace {

NormOptions read_norm(const Descriptor& d) noexcept {
  return {.gamma = d.gamma.view<const float>(),
          .beta = d.beta.view<const float>(),
          .axis = static_cast<int>(d.axis),
          .epsilon = static_cast<float>(d.epsilon)};
}

}  // namespace

Status learnedEncoding(Descriptor& d) noexcept {
  return learned_encoding(d.table.view<const float>(), d.out.view<float>(), whole(d.offset),
                          d.clamp != 0 ? OutOfRange::kClamp : OutOfRange::kError);
}

Status layerNorm(Descriptor& d) noexcept {
  return layer_norm(d.x.view<const float>(), d.out.view<float>(), read_norm(d));
}

Status rmsNorm(Descriptor& d) noexcept {
  return rms_norm(d.x.view<const float>(), d.out.view<float>(), read_norm(d));
}

Status gelu(Descriptor& d) noexcept {
  return activate(d.x.view<const float>(), d.out.view<float>(),
                  d.activation != 0 ? Activation::kGeluTanh : Activation::kGelu);
}

Status softmax(Descriptor& d) noexcept {
  return qkv::softmax(
      d.x.view<const float>(), d.out.view<float>(),
      {.axis = static_cast<int>(d.axis), .temperature = static_cast<float>(d.temperature)});
}

Status embedding(Descriptor& d) noexcept {
  return qkv::embedding(d.table.view<const float>(), d.ids.view<const std::int32_t>(),
                        d.out.view<float>());
}

Status entropy(Descriptor& d) noexcept {
  return row_entropy(d.x.view<const float>(), d.out.view<float>());
}

/// The four statistics go to entropy, lse (distance), weights (largest weight) and out (first key).
Status headStatistics(Descriptor& d) noexcept {
  return head_statistics(d.x.view<const float>(),
                         {.entropy = d.entropy.view<float>(),
                          .distance = d.lse.view<float>(),
                          .max_weight = d.weights.view<float>(),
                          .first_key = d.out.view<float>()},
                         whole(d.offset));
}

}  // namespace qkv::wasm
