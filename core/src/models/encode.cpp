// The encoder's part of a model: it reads a source once, and every layer of the decoder keeps its own keys and values of it.
#include <algorithm>
#include <array>

#include "attention/kv_cache_access.hpp"
#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "models/call_check.hpp"
#include "models/model_check.hpp"
#include "models/model_pass.hpp"
#include "models/site_check.hpp"

namespace qkv {
namespace {

constexpr const char* kEncode = "LanguageModel::encode";

/// Floats of each array besides those of the encoder's pass.
struct SourceNeeds {
  std::size_t stream, keys, quantized;

  SourceNeeds(const ModelState& state, const TensorView<const std::int32_t>& ids) noexcept
      : stream(capped_product(ids.size(), state.config.d_model)),
        keys(capped_product(ids.size(), state.layers[0].config.attention.kv_width())),
        quantized(state.quantized_rows
                      ? quantized_floats(*state.kernels, ids.size(), state.config.d_model)
                      : 0) {}
  [[nodiscard]] std::size_t total() const noexcept {
    return capped_sum(
        {Workspace::padded(stream), 2 * Workspace::padded(keys), Workspace::padded(quantized)});
  }
};

/// Keys and values of the source, one after the other in every layer.
struct SourceRows {
  const float* stream;  ///< what the encoder gave
  float *k, *v;
  float* quantized;
};

void fill_sources(const ModelState& state, const TensorView<const std::int32_t>& ids,
                  const SourceRows& rows, KvCache* sources, ThreadPool* pool) noexcept {
  const LanguageModelConfig& c = state.config;
  LinearRows from{.x = rows.stream, .rows = ids.size(), .y = nullptr};
  RowKinds kinds;
  for (Index n = 0; n < c.num_layers; ++n) {
    kinds.add(*state.kernels, state.layers[n].cross.wk);
    kinds.add(*state.kernels, state.layers[n].cross.wv);
  }
  QuantizedRows quantized{};
  if (kinds.any()) {
    quantized = quantize_rows(*state.kernels, pool, {rows.stream, ids.size(), c.d_model}, kinds,
                              rows.quantized);
    from.quantized = &quantized;
  }
  const auto heads = [&](float* data) {
    return split_heads(data, ids.extent(0), ids.extent(1), c.num_kv_heads, c.d_k);
  };
  for (Index n = 0; n < c.num_layers; ++n) {
    const auto& maps = state.layers[n].cross;
    const LinearOutput outputs[] = {{&maps.wk, rows.k}, {&maps.wv, rows.v}};
    apply_all(*state.kernels, pool, outputs, from);
    // Cannot fail: a cache becomes shorter.
    static_cast<void>(sources[n].truncate(0));
    KvCacheAccess::append(sources[n], heads(rows.k), heads(rows.v), pool);
  }
}

}  // namespace

Status LanguageModel::check_source(const EncodeArgs& args) const noexcept {
  const LanguageModelConfig& c = state_->config;
  if (!state_->encoder) {
    return refuse(StatusCode::kInvalidArgument, kEncode,
                  "the model has no encoder, expected one with @encoder_layers");
  }
  QKV_RETURN_IF_ERROR(check_tokens(kEncode, "source", args.source, {c.vocabulary, c.max_length}));
  if (!args.session || args.session->layers_ == 0) {
    return refuse(StatusCode::kInvalidArgument, kEncode,
                  "@session is {}, expected one made by create()",
                  Verbatim{args.session ? "empty" : "absent"});
  }
  QKV_RETURN_IF_ERROR(check_session(kEncode, *args.session));
  const ModelSessionConfig& s = args.session->config();
  if (args.source.extent(0) != s.batch) {
    return refuse(StatusCode::kShapeMismatch, kEncode, "@source is {}, expected {} as @session has",
                  Extents(args.source), Extents({s.batch, kAny}));
  }
  if (args.source.extent(1) > s.source_capacity) {
    return refuse(
        StatusCode::kOutOfRange, kEncode,
        "@source has rows of {} tokens, expected at most {}: the source_capacity of @session",
        args.source.extent(1), s.source_capacity);
  }
  return args.session->length() == 0
             ? Status{}
             : refuse(StatusCode::kOutOfRange, kEncode,
                      "@session holds {} tokens, expected 0: truncate(0) before another source",
                      args.session->length());
}

Status LanguageModel::encode(const EncodeArgs& args, Workspace& workspace) const noexcept {
  if (!state_ || !state_->finished) {
    return refuse_empty(kEncode, state_ != nullptr);
  }
  const kernels::KernelTable* active = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kEncode, active));
  QKV_RETURN_IF_ERROR(check_same_kernels(kEncode, "the model", state_->kernels, active));
  QKV_RETURN_IF_ERROR(check_source(args));
  const ModelState& encoder = *state_->encoder;
  const LanguageModelConfig& c = state_->config;
  const SiteWishes wishes{args.readings, args.edits, {}};
  const std::array<NamedSpan, 1> inputs = {{{"source", args.source}}};
  QKV_RETURN_IF_ERROR(check_sites(
      kEncode,
      {encoder.config, args.source.extent(0), args.source.extent(1), args.source.extent(1), 0},
      wishes));
  QKV_RETURN_IF_ERROR(check_sites_apart(kEncode, wishes, {}, inputs));
  const Index batch = args.source.extent(0);
  const Index length = args.source.extent(1);
  // Planning reads shapes only; the stream has its memory later.
  float later = 0.0F;
  ForwardArgs pass_args{.ids = args.source,
                        .hidden = {&later, {batch, length, c.d_model}},
                        .readings = args.readings,
                        .edits = args.edits};
  PassPlan plan;
  QKV_RETURN_IF_ERROR(plan.make(encoder, pass_args, nullptr, workspace.threads()));
  const ModelNeeds needs = needs_of(encoder, pass_args, workspace.threads());
  const SourceNeeds own(*state_, args.source);
  QKV_RETURN_IF_ERROR(workspace.begin(capped_sum({needs.total(), own.total()})));
  QKV_RETURN_IF_ERROR(args.session->make_room(args.session->sources_, length));
  float* const stream = workspace.take(own.stream);
  float* const k = workspace.take(own.keys);
  float* const v = workspace.take(own.keys);
  float* const quantized = workspace.take(own.quantized);
  pass_args.hidden.data = stream;
  ModelPass pass(encoder, pass_args, needs, plan, workspace);
  pass.run({0, length, 0});
  fill_sources(*state_, args.source, {stream, k, v, quantized}, args.session->sources_,
               workspace.pool());
  return {};
}

}  // namespace qkv
