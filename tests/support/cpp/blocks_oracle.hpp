// Norms, activations, softmax, the feed-forward layer and transformer blocks, from their formulas in double
// precision, one plain loop after another; and for all but blocks, beside each value, how far a
// computed one may be from it by the bounds of the public headers.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "bounds.hpp"
#include "oracle.hpp"
#include "qkv/qkv.hpp"

namespace qkv::test::oracle {

/// Exact values, and bounds on the errors of computed ones.
struct Bounded {
  std::vector<double> value, error;
};

template <class T>
Bounded exactly(const std::vector<T>& values) {
  return {{values.begin(), values.end()}, std::vector<double>(values.size(), 0.0)};
}

// --- Activations (qkv/activation.hpp) ---

/// The argument of the tanh in kGeluTanh.
inline double gelu_tanh_argument(double x) {
  return std::sqrt(2.0 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
}

inline double activation(Activation f, double x) {
  switch (f) {
    case Activation::kRelu:
      return x > 0.0 ? x : 0.0;
    case Activation::kGelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));  // 1 + erf(t) = erfc(-t), without the loss
    case Activation::kGeluTanh:
      return x / (1.0 + std::exp(-2.0 * gelu_tanh_argument(x)));  // (1 + tanh(g)) / 2
    case Activation::kSilu:
      return x / (1.0 + std::exp(-x));
  }
  return NAN;
}

/// |computed - exact| of one element where |f| is at most y_size and x at least x_least.
inline double activation_bound(Activation f, double x_least, double y_size) {
  const double below = x_least < 0.0 ? x_least : 0.0;
  switch (f) {
    case Activation::kRelu:
      return 0.0;
    case Activation::kGelu:
      return bounds::kU * y_size * (22 + below * below / 2) + 0x1p-125;
    case Activation::kGeluTanh:
      return bounds::kU * y_size * (8 + 8 * std::abs(gelu_tanh_argument(below))) + 0x1p-122;
    case Activation::kSilu:
      return bounds::kU * y_size * 8 + 0x1p-119;
  }
  return NAN;
}

inline double activation_bound(Activation f, double x) {
  return activation_bound(f, x, std::abs(activation(f, x)));
}

/// Greatest |f'|.
inline double steepness(Activation f) {
  return f == Activation::kRelu ? 1.0 : f == Activation::kSilu ? 1.1 : 1.13;
}

inline Bounded activation(Activation f, const Bounded& x) {
  Bounded y = x;
  for (std::size_t i = 0; i < x.value.size(); ++i) {
    const double moved = steepness(f) * x.error[i];
    y.value[i] = activation(f, x.value[i]);
    y.error[i] = moved + activation_bound(f, x.value[i] - x.error[i], std::abs(y.value[i]) + moved);
  }
  return y;
}

// --- Norms (qkv/norm.hpp) ---

struct NormParameters {
  bool centre;  ///< layer norm; otherwise RMS norm
  double epsilon;
  std::vector<float> gamma, beta;  ///< empty when absent
};

/// Rows of n elements.
inline Bounded normalized(const NormParameters& p, Index n, const Bounded& x) {
  Bounded y = x;
  const auto width = static_cast<std::size_t>(n);
  for (std::size_t row = 0; row + width <= x.value.size(); row += width) {
    double sum = 0.0;
    double e = 0.0;
    for (std::size_t i = 0; i < width; ++i) {
      sum += x.value[row + i];
      e = std::max(e, x.error[row + i]);
    }
    const double mean = p.centre ? sum / static_cast<double>(n) : 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < width; ++i) {
      squares += (x.value[row + i] - mean) * (x.value[row + i] - mean);
    }
    const double s = std::sqrt(squares / static_cast<double>(n) + p.epsilon);
    const double q = bounds::kU * (std::abs(mean) + e) / (s - e);
    for (std::size_t i = 0; i < width; ++i) {
      const double gamma = p.gamma.empty() ? 1.0 : static_cast<double>(p.gamma[i]);
      const double beta = p.beta.empty() ? 0.0 : static_cast<double>(p.beta[i]);
      const double z = s == 0.0 ? 0.0 : (x.value[row + i] - mean) / s;
      const double moved = e == 0.0 ? 0.0
                           : s <= e ? INFINITY
                                    : e * ((p.centre ? 2 : 1) + std::abs(z)) / (s - e);
      y.value[row + i] = z * gamma + beta;
      const double size = std::abs(y.value[row + i]) + std::abs(gamma) * moved;
      const double rounding = p.centre ? std::abs(gamma) * (22 + 18 * (std::abs(z) + moved)) *
                                                 (1 + 2 * q) * (1 + 2 * q) +
                                             size
                                       : 14 * size;
      y.error[row + i] = std::abs(gamma) * moved + bounds::kU * rounding +
                         0x1p-149 * (p.centre ? 1 : 1 + std::abs(gamma));
    }
  }
  return y;
}

// --- Softmax (qkv/softmax.hpp) ---

/// Of one row, by the formula.
inline Bounded softmax(const std::vector<double>& x, double temperature) {
  const double most = *std::max_element(x.begin(), x.end());
  Bounded y{x, x};
  double sum = 0.0;
  for (double& value : y.value) {
    value = std::exp((value - most) / temperature);
    sum += value;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    y.value[i] /= sum;
    const double below = (most - x[i]) / temperature + std::log(static_cast<double>(x.size()));
    y.error[i] = 0x1p-125 + (y.value[i] > 0.0 ? bounds::kU * y.value[i] * (3 * below + 26) : 0.0);
  }
  return y;
}

// --- Layers ---

/// x W + b; `weight` is [in, out] with any strides.
inline Bounded linear(const Bounded& x, const TensorView<const float>& weight,
                      const TensorView<const float>& bias) {
  const Product exact = linear(x.value, weight, bias);
  Bounded y{exact.value, std::vector<double>(exact.value.size())};
  const Index in = weight.extent(0);
  const Index out = weight.extent(1);
  for (std::size_t at = 0; at < y.error.size(); ++at) {
    const Index row = static_cast<Index>(at) / out;
    double carried = 0.0;
    for (Index i = 0; i < in; ++i) {
      carried += x.error[static_cast<std::size_t>(row * in + i)] *
                 std::abs(static_cast<double>(*weight.at(i, static_cast<Index>(at) % out)));
    }
    y.error[at] = carried + bounds::product(in, exact.size[at] + carried);
  }
  return y;
}

inline Bounded product(const Bounded& a, const Bounded& b) {
  Bounded y = a;
  for (std::size_t i = 0; i < a.value.size(); ++i) {
    const double size_a = std::abs(a.value[i]);
    const double size_b = std::abs(b.value[i]);
    y.value[i] *= b.value[i];
    y.error[i] = a.error[i] * size_b + size_a * b.error[i] + a.error[i] * b.error[i] +
                 bounds::kU * (size_a + a.error[i]) * (size_b + b.error[i]) + 0x1p-149;
  }
  return y;
}

/// What FeedForward computes; the views of `w` are [in, out].
inline Bounded feed_forward(FeedForwardActivation f, const FeedForwardWeights& w,
                            const Bounded& x) {
  const Bounded a = linear(x, w.w1, w.b1);
  if (f == FeedForwardActivation::kSwiglu) {
    const Bounded gate = activation(Activation::kSilu, linear(x, w.w_gate, w.b_gate));
    return linear(product(gate, a), w.w2, w.b2);
  }
  return linear(activation(static_cast<Activation>(f), a), w.w2, w.b2);
}

/// Heads of q or k with the norm of the layer, if it has one.
inline Bounded qk_normalized(const MultiHeadAttentionConfig& c,
                             const TensorView<const float>& gamma,
                             const TensorView<const float>& beta, const Bounded& heads) {
  if (!c.qk_norm) {
    return heads;
  }
  const auto values = [](const TensorView<const float>& view) {
    return view.absent() ? std::vector<float>()
                         : std::vector<float>(view.data, view.data + view.size());
  };
  return normalized({*c.qk_norm == NormType::kLayer, static_cast<double>(c.qk_epsilon),
                     values(gamma), values(beta)},
                    c.d_k, heads);
}

/// What MultiHeadAttention computes; `w` has separate matrices, [in, out].
struct AttentionLayer {
  const MultiHeadAttentionConfig& c;  ///< every size filled in
  const MultiHeadAttentionWeights& w;
  const AttentionOptions& options;
  Index batch, tq, tk;

  [[nodiscard]] std::vector<double> operator()(const std::vector<double>& x,
                                               const std::vector<double>& context) const {
    const std::vector<double> q =
        qk_normalized(c, w.q_gamma, w.q_beta, exactly(linear(x, w.wq, w.bq).value)).value;
    const std::vector<double> k =
        qk_normalized(c, w.k_gamma, w.k_beta, exactly(linear(context, w.wk, w.bk).value)).value;
    const std::vector<double> v = linear(context, w.wv, w.bv).value;
    const Inputs<double> inputs{heads(q, batch, tq, c.num_heads),
                                heads(k, batch, tk, c.num_kv_heads),
                                heads(v, batch, tk, c.num_kv_heads)};
    std::vector<double> o(static_cast<std::size_t>(batch * tq * c.num_heads * c.d_v));
    for (Index b = 0; b < batch; ++b) {
      for (Index h = 0; h < c.num_heads; ++h) {
        for (Index i = 0; i < tq; ++i) {
          const std::vector<double> out = attention_row(inputs, options, {b, h, i}).out;
          std::copy(out.begin(), out.end(), o.begin() + ((b * tq + i) * c.num_heads + h) * c.d_v);
        }
      }
    }
    return linear(o, w.wo, w.bo).value;
  }
};

/// What TransformerBlock computes. Views are [in, out], and every size of `c` is filled in.
struct Block {
  TransformerBlockConfig c;
  MultiHeadAttentionWeights attention, cross;
  NormParameters norm1, norm_cross, norm2;
  FeedForwardWeights feed_forward;
  AttentionOptions options, cross_options;
  Index batch, tq, tk;

  [[nodiscard]] std::vector<double> operator()(const std::vector<double>& x,
                                               const std::vector<double>& context) const {
    using Values = std::vector<double>;
    MultiHeadAttentionConfig self = c.attention;
    self.d_context = self.d_model;
    const AttentionLayer attend{self, attention, options, batch, tq, tq};
    const AttentionLayer attend_context{c.attention, cross, cross_options, batch, tq, tk};
    Values h = sublayer(norm1, x, [&](const Values& in) { return attend(in, in); });
    if (c.cross_attention) {
      h = sublayer(norm_cross, h, [&](const Values& in) { return attend_context(in, context); });
    }
    return sublayer(norm2, h, [&](const Values& in) {
      return oracle::feed_forward(c.activation, feed_forward, exactly(in)).value;
    });
  }

 private:
  template <class F>
  [[nodiscard]] std::vector<double> sublayer(const NormParameters& norm,
                                             const std::vector<double>& x, F f) const {
    const Index n = c.attention.d_model;
    const bool pre = c.norm == NormPlacement::kPre;
    std::vector<double> h = f(pre ? normalized(norm, n, exactly(x)).value : x);
    for (std::size_t i = 0; i < h.size(); ++i) {
      h[i] += x[i];
    }
    return pre ? h : normalized(norm, n, exactly(h)).value;
  }
};

}  // namespace qkv::test::oracle
