// What targets about models share: configs, tokens, and what is true of every refusal.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "judge.hpp"
#include "qkv/language_model_config.hpp"

namespace qkv::fuzz {

inline constexpr Needs kDense{.dense = true};

/// A count that is as it should be, or one to frighten; none that would only take long or much memory.
inline Index count(Input& in, Index least, Index most) {
  const Index usual = in.in(least, most);
  if (!in.chance(2)) {
    return usual;
  }
  const Index wild = in.extreme();
  return wild > 64 && wild < Index{1} << 40 ? usual : wild;
}

/// A value of an enumeration, rarely none.
template <class T>
T choice(Input& in, T last) {
  return static_cast<T>(in.in(0, in.chance(2) ? 255 : static_cast<Index>(last)));
}

/// Tokens of a vocabulary, or of another. Of their extents only targets and lengths could tell, which are looked at later.
inline TensorView<const std::int32_t> tokens(Input& in, Arena& arena,
                                             std::initializer_list<Index> shape, Index vocabulary) {
  return arena.integers(shape, in.chance(3) ? -1 : 0, std::min<Index>(vocabulary - 1, 1000),
                        {.dense = true, .unconstrained = 3});
}

/// Any config of what can be trained.
inline LanguageModelConfig language_model_config(Input& in) {
  LanguageModelConfig c;
  c.vocabulary = count(in, 1, 9);
  c.num_layers = count(in, 1, 3);
  c.num_heads = count(in, 1, 4);
  c.num_kv_heads = in.chance(30) ? count(in, 0, 4) : 0;
  c.d_k = in.chance(30) ? count(in, 0, 9) : 0;
  c.d_model = in.chance(20) ? count(in, 0, 20)
                            : std::min<Index>(std::max<Index>(c.num_heads, 1), 8) * in.in(1, 5);
  c.d_feed_forward = in.chance(30) ? 0 : count(in, 0, 12);
  c.max_length = count(in, 1, 9);
  c.causal = in.chance(70);
  c.norm = choice(in, NormPlacement::kPost);
  c.norm_type = choice(in, NormType::kRms);
  c.activation = choice(in, ModelActivation::kGeglu);
  c.positions = choice(in, ModelPositions::kAlibi);
  c.rotary.interleaved = in.chance(50);
  c.rotary.rotary_dim = in.chance(20) ? in.in(0, 9) : 0;
  c.rotary.offset = in.chance(3) ? in.extreme() : 0;
  c.qk_norm = in.chance(30);
  c.parallel_residual = in.chance(30);
  c.tied_embeddings = in.chance(50);
  if (in.chance(30)) {
    c.biases = in.chance(50);
  }
  c.embedding_scale = in.chance(5) ? in.real() : in.pick({1.0F, 3.0F, -0.5F});
  c.window = in.chance(20) ? in.in(0, 9) : in.chance(3) ? in.extreme() : -1;
  c.attention_softcap = in.chance(5) ? in.real() : in.pick({0.0F, 2.0F});
  c.epsilon = in.chance(5) ? in.real() : 1e-5F;
  return c;
}

/// A refusal begins with the call and names what is wrong with it.
inline void require_refusal(const char* of, const char* call, const Status& status) {
  const std::string message = status.message();
  if (status.code() == StatusCode::kOutOfMemory && message.starts_with("out of memory: ")) {
    return;
  }
  if (!message.starts_with(std::string(of) + "::" + call + ": ") ||
      message.find(", expected ") == std::string::npos) {
    fail("%s::%s: refused with \"%s\"", of, call, message.c_str());
  }
}

/// One of the instruction sets of this machine.
inline void select_any_isa(Input& in) {
  const int at = static_cast<int>(in.in(0, isa_count() - 1));
  if (isa_supported(at) && !select_isa(isa_name(at)).ok()) {
    fail("select_isa: refuses %s, which is supported", isa_name(at));
  }
}

}  // namespace qkv::fuzz
