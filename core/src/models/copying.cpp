// Whether heads make what they read likelier: tokens through the maps of a head, from the embedding to the logits.
#include <algorithm>
#include <array>

#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "models/call_check.hpp"
#include "models/head_product.hpp"
#include "models/model_check.hpp"
#include "models/model_state.hpp"
#include "models/pass_needs.hpp"
#include "rows/over_rows.hpp"
#include "weights/linear_product.hpp"
#include "weights/weight_rows.hpp"

namespace qkv {
namespace {

constexpr const char* kCopying = "LanguageModel::copying";

/// Floats of each array, for kLogitRows rows.
struct CopyingNeeds {
  std::size_t rows, values, brought, logits, products, quantized;

  CopyingNeeds(const ModelState& state, int threads) noexcept {
    const LanguageModelConfig& c = state.config;
    const Index heads = detail::saturated_product(c.num_heads, c.d_k);
    rows = capped_product(kLogitRows, c.d_model);
    values = capped_product(kLogitRows, detail::saturated_product(c.num_kv_heads, c.d_k));
    brought = capped_product(rows, c.num_heads);
    logits = capped_product(kLogitRows, c.vocabulary);
    products = HeadProduct::floats(heads, c.d_k, threads);
    quantized = quantized_floats(*state.kernels, kLogitRows, c.d_model);
  }
  [[nodiscard]] std::size_t total() const noexcept {
    const auto padded = [](std::size_t n) { return Workspace::padded(n); };
    return capped_sum({padded(rows), padded(values), padded(brought), padded(logits),
                       padded(products), padded(quantized)});
  }
};

/// At most kLogitRows tokens at a time.
class Copying {
 public:
  Copying(const ModelState& state, const LanguageModel::CopyingArgs& args,
          const CopyingNeeds& needs, Workspace& workspace) noexcept
      : state_(state),
        c_(state.config),
        layer_(state.layers[args.layer]),
        args_(args),
        pool_(workspace.pool()),
        x_(workspace.take(needs.rows)),
        v_(workspace.take(needs.values)),
        y_(workspace.take(needs.brought)),
        logits_(workspace.take(needs.logits)),
        products_(workspace.take(needs.products)),
        quantized_(workspace.take(needs.quantized)) {}

  void run(Index first, Index count) const noexcept {
    read(first, count);
    if (layer_.config.norms.attention_input) {
      normalize(layer_.norm1, x_, count, true);
    }
    apply(layer_.attention.wv, x_, count, v_);
    const Index of_kv = c_.num_kv_heads * c_.d_k;
    const Index group = c_.num_heads / c_.num_kv_heads;
    const Index of_head = count * c_.d_model;
    const HeadProduct product{layer_.attention.wo, c_.d_k, pool_, products_};
    product.multiply(*state_.kernels, {.rows = count,
                                       .x = v_,
                                       .x_stride = of_kv,
                                       .group = group,
                                       .y = y_,
                                       .y_stride = c_.d_model,
                                       .y_head_stride = of_head});
    for (Index h = 0; h < c_.num_heads; ++h) {
      float* y = y_ + h * of_head;
      if (layer_.config.norms.output) {
        centre(layer_.post_norm1, y, count);
      }
      if (c_.norm != NormPlacement::kPost) {
        centre(state_.norm, y, count);
      }
      apply(state_.last_map(), y, count, logits_);
      for (Index r = 0; r < count; ++r) {
        *args_.scores.at(first + r, h) =
            place(logits_ + r * c_.vocabulary, args_.ids.data[first + r]);
      }
    }
  }

 private:
  /// The stream of the tokens.
  void read(Index first, Index count) const noexcept {
    const Index d = c_.d_model;
    if (!args_.stream.absent()) {
      std::copy_n(args_.stream.at(first), count * d, x_);
      return;
    }
    for (Index r = 0; r < count; ++r) {
      float* row = x_ + r * d;
      read_column(*state_.kernels, state_.tokens(), args_.ids.data[first + r], row);
      std::transform(row, row + d, row, [&](float x) { return x * c_.embedding_scale; });
    }
    if (c_.embedding_norm) {
      normalize(state_.embedding_norm, x_, count, true);
    }
  }

  void normalize(const ModelNorm& norm, float* x, Index rows, bool beta) const noexcept {
    normalize_rows(*state_.kernels, pool_,
                   {.rows = rows,
                    .n = c_.d_model,
                    .x = x,
                    .out = x,
                    .gamma = norm.gamma.data(),
                    .beta = beta ? norm.beta.data() : nullptr,
                    .epsilon = c_.epsilon,
                    .centre = c_.norm_type == NormType::kLayer});
  }

  /// The norm without its scale and beta.
  void centre(const ModelNorm& norm, float* x, Index rows) const noexcept {
    const Index d = c_.d_model;
    for (Index r = 0; r < rows; ++r) {
      float* row = x + r * d;
      double mean = 0.0;
      for (Index i = 0; c_.norm_type == NormType::kLayer && i < d; ++i) {
        mean += static_cast<double>(row[i]) / static_cast<double>(d);
      }
      for (Index i = 0; i < d; ++i) {
        row[i] = static_cast<float>((static_cast<double>(row[i]) - mean) *
                                    static_cast<double>(norm.gamma.data()[i]));
      }
    }
  }

  /// A map without its bias.
  void apply(const PackedLinear& map, const float* x, Index rows, float* y) const noexcept {
    LinearRows from{.x = x, .rows = rows, .y = y};
    RowKinds kinds;
    kinds.add(*state_.kernels, map);
    QuantizedRows made;
    if (kinds.any()) {
      made = quantize_rows(*state_.kernels, pool_, {x, rows, map.in}, kinds, quantized_);
      from.quantized = &made;
    }
    LinearColumns columns = columns_of(map);
    columns.bias = nullptr;
    apply_columns(*state_.kernels, pool_, columns, from);
  }

  /// Of a token among all, from -1 to 1.
  [[nodiscard]] float place(const float* logits, Index id) const noexcept {
    Index greater = 0;
    Index equal = -1;  // without itself
    for (Index i = 0; i < c_.vocabulary; ++i) {
      greater += logits[i] > logits[id] ? 1 : 0;
      equal += logits[i] == logits[id] ? 1 : 0;
    }
    const auto others = static_cast<double>(std::max<Index>(c_.vocabulary - 1, 1));
    return static_cast<float>(1.0 - static_cast<double>(2 * greater + std::max<Index>(equal, 0)) /
                                        others);
  }

  const ModelState& state_;
  const LanguageModelConfig& c_;
  const ModelLayer& layer_;
  const LanguageModel::CopyingArgs& args_;
  ThreadPool* pool_;
  float *x_, *v_, *y_, *logits_, *products_, *quantized_;
};

Status check_copying(const LanguageModelConfig& c,
                     const LanguageModel::CopyingArgs& args) noexcept {
  QKV_RETURN_IF_ERROR(check_plain_head(kCopying, c));
  if (args.layer < 0 || args.layer >= c.num_layers) {
    return refuse(StatusCode::kOutOfRange, kCopying, "@layer is {}, expected [0, {})", args.layer,
                  c.num_layers);
  }
  QKV_RETURN_IF_ERROR(check_dense(kCopying, "ids", args.ids, {kAny}));
  QKV_RETURN_IF_ERROR(check_ids(kCopying, "ids", args.ids, c.vocabulary));
  const Index tokens = args.ids.extent(0);
  QKV_RETURN_IF_ERROR(check_dense_if_given(kCopying, "stream", args.stream, {tokens, c.d_model}));
  QKV_RETURN_IF_ERROR(check_dense(kCopying, "scores", args.scores, {tokens, c.num_heads}));
  return check_apart(kCopying, {{"scores", args.scores}},
                     {{"ids", args.ids}, {"stream", args.stream}});
}

}  // namespace

Status LanguageModel::copying(const CopyingArgs& args, Workspace& workspace) const noexcept {
  if (!state_ || !state_->finished) {
    return refuse_empty(kCopying, state_ != nullptr);
  }
  const kernels::KernelTable* active = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kCopying, active));
  QKV_RETURN_IF_ERROR(check_same_kernels(kCopying, "the model", state_->kernels, active));
  QKV_RETURN_IF_ERROR(check_copying(state_->config, args));
  const CopyingNeeds needs(*state_, workspace.threads());
  QKV_RETURN_IF_ERROR(workspace.begin(needs.total()));
  const Copying steps(*state_, args, needs, workspace);
  for (Index first = 0; first < args.ids.extent(0); first += kLogitRows) {
    steps.run(first, std::min(kLogitRows, args.ids.extent(0) - first));
  }
  return {};
}

}  // namespace qkv
