// The cases of cases.js on the C++ library, with Google Benchmark. The instruction set is that of
// QKV_ISA; 4 as the exit code says that it cannot run here, as in the tests.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eigen_gemm.hpp"
#include "isa/isa_dispatch.hpp"
#include "packed_product.hpp"
#include "peak_table.hpp"
#include "qkv/qkv.hpp"
#include "qkv/threads.hpp"
#include "qkv/train/attention.hpp"
#include "qkv/train/language_model.hpp"

namespace {

using qkv::Index;
using qkv::Status;
using qkv::TensorView;
using qkv::bench::PeakFunction;
using Floats = std::vector<float>;

/// The generator of cases.js.
Floats random(std::uint32_t seed, Index count) {
  Floats numbers(static_cast<std::size_t>(count));
  std::uint32_t state = seed;
  for (float& number : numbers) {
    state = state * 1664525U + 1013904223U;
    number = static_cast<float>(state >> 8U) / 8388608.0F - 1.0F;
  }
  return numbers;
}

Floats matrix(std::uint32_t seed, Index inputs, Index outputs) {
  Floats numbers = random(seed, inputs * outputs);
  const float scale = 1.0F / std::sqrt(static_cast<float>(inputs));
  for (float& number : numbers) {
    number *= scale;
  }
  return numbers;
}

Floats zeros(Index count) { return Floats(static_cast<std::size_t>(count)); }

double pairs(Index tokens, bool causal) {
  const auto t = static_cast<double>(tokens);
  return causal ? t * (t + 1.0) / 2.0 : t * t;
}

/// Threads that share the work of a call: QKV_BENCH_THREADS, one by default.
qkv::ThreadPool* shared_threads() {
  static const std::unique_ptr<qkv::Threads> kThreads = [] {
    const char* count = std::getenv("QKV_BENCH_THREADS");
    const long threads = count == nullptr ? 1 : std::strtol(count, nullptr, 10);
    return threads > 1 ? std::make_unique<qkv::Threads>(static_cast<unsigned>(threads)) : nullptr;
  }();
  return kThreads ? &kThreads->pool() : nullptr;
}

/// Times `call`, which fails the benchmark with a message, and counts its operations.
void measure(benchmark::State& state, double flops, const std::function<Status()>& call) {
  for ([[maybe_unused]] auto unused : state) {
    const Status status = call();
    if (!status.ok()) {
      state.SkipWithError(status.message());
      return;
    }
    benchmark::ClobberMemory();
  }
  if (flops > 0.0) {
    state.counters["flops"] =
        benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
  }
}

/// The last result as raw floats in the file QKV_BENCH_DUMP names, for a comparison with others.
void dump(std::span<const float> result) {
  const char* path = std::getenv("QKV_BENCH_DUMP");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "wb");
  if (file != nullptr) {
    std::fwrite(result.data(), sizeof(float), result.size(), file);
    std::fclose(file);
  }
}

struct AttentionCase {
  const char* name;
  Index heads, tokens, width;
  bool causal;
};

void attention(benchmark::State& state, const AttentionCase& c) {
  const Index count = c.heads * c.tokens * c.width;
  const Floats q = random(1, count);
  const Floats k = random(2, count);
  const Floats v = random(3, count);
  Floats out = zeros(count);
  const auto view = [&](auto* data) {
    return TensorView(data, {Index{1}, c.heads, c.tokens, c.width});
  };
  qkv::Workspace workspace(shared_threads());
  qkv::AttentionArgs args{.q = view(q.data()),
                          .k = view(k.data()),
                          .v = view(v.data()),
                          .out = view(out.data()),
                          .options = {},
                          .extras = {}};
  args.options.causal = c.causal;
  const double flops = 4.0 * static_cast<double>(c.heads * c.width) * pairs(c.tokens, c.causal);
  measure(state, flops, [&] { return qkv::attention(args, workspace); });
  dump(out);
}

/// The gradients of q, k and v: five products where the forward pass has two.
void attention_backward(benchmark::State& state, const AttentionCase& c) {
  const Index count = c.heads * c.tokens * c.width;
  const Floats q = random(1, count);
  const Floats k = random(2, count);
  const Floats v = random(3, count);
  const Floats d_out = random(4, count);
  Floats out = zeros(count);
  Floats lse = zeros(c.heads * c.tokens);
  Floats dq = zeros(count);
  Floats dk = zeros(count);
  Floats dv = zeros(count);
  const auto view = [&](auto* data) {
    return TensorView(data, {Index{1}, c.heads, c.tokens, c.width});
  };
  qkv::Workspace workspace(shared_threads());
  qkv::AttentionArgs forward;
  forward.q = view(q.data());
  forward.k = view(k.data());
  forward.v = view(v.data());
  forward.out = view(out.data());
  forward.options.causal = c.causal;
  forward.extras.lse = {lse.data(), {1, c.heads, c.tokens}};
  if (const Status done = qkv::attention(forward, workspace); !done.ok()) {
    state.SkipWithError(done.message());
    return;
  }
  qkv::train::AttentionBackwardArgs args;
  args.d_out = view(d_out.data());
  args.q = forward.q;
  args.k = forward.k;
  args.v = forward.v;
  args.out = {out.data(), {1, c.heads, c.tokens, c.width}};
  args.lse = {lse.data(), {1, c.heads, c.tokens}};
  args.options = forward.options;
  args.dq = view(dq.data());
  args.dk = view(dk.data());
  args.dv = view(dv.data());
  const double flops = 10.0 * static_cast<double>(c.heads * c.width) * pairs(c.tokens, c.causal);
  measure(state, flops, [&] { return qkv::train::attention_backward(args, workspace); });
  dump(dq);
}

struct LayerCase {
  const char* name;
  Index tokens, model, heads;
};

void layer(benchmark::State& state, const LayerCase& c) {
  const Floats wq = matrix(2, c.model, c.model);
  const Floats wk = matrix(3, c.model, c.model);
  const Floats wv = matrix(4, c.model, c.model);
  const Floats wo = matrix(5, c.model, c.model);
  const auto square = [&](const Floats& w) {
    return TensorView<const float>(w.data(), {c.model, c.model});
  };
  qkv::MultiHeadAttentionWeights weights;
  weights.wq = square(wq);
  weights.wk = square(wk);
  weights.wv = square(wv);
  weights.wo = square(wo);
  qkv::MultiHeadAttentionConfig config;
  config.d_model = c.model;
  config.num_heads = c.heads;
  qkv::MultiHeadAttention made;
  const Status status = qkv::MultiHeadAttention::create(config, weights, made);
  if (!status.ok()) {
    state.SkipWithError(status.message());
    return;
  }
  const Floats x = random(1, c.tokens * c.model);
  Floats y = zeros(c.tokens * c.model);
  qkv::MultiHeadAttention::ForwardArgs args;
  args.x = TensorView<const float>(x.data(), {Index{1}, c.tokens, c.model});
  args.y = TensorView<float>(y.data(), {Index{1}, c.tokens, c.model});
  args.options.causal = true;
  qkv::Workspace workspace(shared_threads());
  const auto model = static_cast<double>(c.model);
  const double flops =
      8.0 * static_cast<double>(c.tokens) * model * model + 4.0 * model * pairs(c.tokens, true);
  measure(state, flops, [&] { return made.forward(args, workspace); });
  dump(y);
}

struct DecodeCase {
  Index heads, kv_heads, past, width;
  qkv::CacheFormat format = qkv::CacheFormat::kF32;
};

void decode(benchmark::State& state, const DecodeCase& c) {
  const auto [heads, kv_heads, past, width, format] = c;
  qkv::KvCache cache;
  Status status = qkv::KvCache::create({.batch = 1,
                                        .num_kv_heads = kv_heads,
                                        .capacity = past + 1,
                                        .d_k = width,
                                        .d_v = width,
                                        .format = format},
                                       cache);
  const Floats past_k = random(4, kv_heads * past * width);
  const Floats past_v = random(5, kv_heads * past * width);
  const auto view = [&](auto* data, Index count, Index tokens) {
    return TensorView(data, {Index{1}, count, tokens, c.width});
  };
  if (status.ok()) {
    status = cache.append(view(past_k.data(), kv_heads, past), view(past_v.data(), kv_heads, past));
  }
  if (!status.ok()) {
    state.SkipWithError(status.message());
    return;
  }
  const Floats q = random(1, heads * width);
  const Floats k = random(2, kv_heads * width);
  const Floats v = random(3, kv_heads * width);
  Floats out = zeros(heads * width);
  qkv::AttentionArgs args{.q = view(q.data(), heads, 1),
                          .k = view(k.data(), kv_heads, 1),
                          .v = view(v.data(), kv_heads, 1),
                          .out = view(out.data(), heads, 1),
                          .options = {},
                          .extras = {},
                          .cache = &cache};
  args.options.causal = true;
  qkv::Workspace workspace(shared_threads());
  measure(state, 4.0 * static_cast<double>(heads * width * (past + 1)), [&] {
    const Status done = qkv::attention(args, workspace);
    return done.ok() ? cache.truncate(past) : done;
  });
  dump(out);
}

constexpr Index kRows = 512;
constexpr Index kInner = 768;
constexpr Index kColumns = 2304;
constexpr double kGemmFlops = 2.0 * kRows * kInner * kColumns;

/// With weights that are packed once, as linearLayer() of the package does.
void gemm(benchmark::State& state) {
  const Floats a = random(1, kRows * kInner);
  const Floats b = random(2, kInner * kColumns);
  Floats c = zeros(kRows * kColumns);
  qkv::Linear map;
  const Status made = qkv::Linear::create({.w = {b.data(), {kInner, kColumns}}, .bias = {}}, map);
  if (!made.ok()) {
    state.SkipWithError(made.message());
    return;
  }
  qkv::Workspace workspace(shared_threads());
  measure(state, kGemmFlops, [&] {
    return map.forward({a.data(), {kRows, kInner}}, {c.data(), {kRows, kColumns}}, workspace);
  });
  dump(c);
}

/// The same product from plain weights, which are packed in the call.
void linear(benchmark::State& state) {
  const Floats a = random(1, kRows * kInner);
  const Floats b = random(2, kInner * kColumns);
  Floats c = zeros(kRows * kColumns);
  qkv::Workspace workspace(shared_threads());
  const qkv::LinearArgs args{.x = {a.data(), {kRows, kInner}},
                             .w = {b.data(), {kInner, kColumns}},
                             .bias = {},
                             .out = {c.data(), {kRows, kColumns}}};
  measure(state, kGemmFlops, [&] { return qkv::linear(args, workspace); });
  dump(c);
}

void gemm_eigen(benchmark::State& state) {
  const Floats a = random(1, kRows * kInner);
  const Floats b = random(2, kInner * kColumns);
  Floats c = zeros(kRows * kColumns);
  measure(state, kGemmFlops, [&] {
    qkv::bench::eigen_gemm({.m = kRows, .n = kColumns, .k = kInner}, a.data(), b.data(), c.data());
    return Status();
  });
}

struct ProductCase {
  qkv::WeightFormat format;
  Index rows, columns;
};

/// A linear map of a model of width 768, packed once.
void product(benchmark::State& state, const ProductCase& c) {
  const Floats x = random(1, c.rows * kInner);
  Floats y = zeros(c.rows * c.columns);
  qkv::bench::PackedProduct packed;
  if (!packed.prepare(c.rows, {.in = kInner, .out = c.columns, .format = c.format},
                      matrix(2, kInner, c.columns).data())) {
    state.SkipWithError("out of memory");
    return;
  }
  const auto products = static_cast<double>(c.rows * kInner * c.columns);
  measure(state, 2.0 * products, [&] {
    packed.run(c.rows, x.data(), y.data());
    return Status();
  });
  state.SetBytesProcessed(state.iterations() * static_cast<Index>(packed.bytes()));
  dump(y);
}

/// The bytes of one of them, only read.
void read(benchmark::State& state, Index bytes) {
  const std::vector<std::uint32_t> memory(static_cast<std::size_t>(bytes) / 4, 1);
  measure(state, 0.0, [&] {
    benchmark::DoNotOptimize(qkv::bench::read_all(memory.data(), memory.size()));
    return Status();
  });
  state.SetBytesProcessed(state.iterations() * bytes);
}

enum class Elementwise : std::uint8_t { kSoftmax, kGelu, kLayerNorm, kRmsNorm, kRotary, kCopy };

struct ElementwiseCase {
  const char* name;
  Elementwise op;
  Index rows, width;
};

void elementwise(benchmark::State& state, const ElementwiseCase& c) {
  const Floats x = random(1, c.rows * c.width);
  const Floats gamma = random(2, c.width);
  const Floats beta = random(3, c.width);
  Floats y = zeros(c.rows * c.width);
  const TensorView<const float> from(x.data(), {Index{1}, Index{1}, c.rows, c.width});
  const TensorView<float> to(y.data(), {Index{1}, Index{1}, c.rows, c.width});
  qkv::NormOptions options;
  options.gamma = TensorView<const float>(gamma.data(), {c.width});
  qkv::Workspace workspace(shared_threads());
  measure(state, 0.0, [&] {
    switch (c.op) {
      case Elementwise::kSoftmax:
        return qkv::softmax(from, to, {});
      case Elementwise::kGelu:
        return qkv::activate(from, to, qkv::Activation::kGelu);
      case Elementwise::kLayerNorm: {
        qkv::NormOptions both = options;
        both.beta = TensorView<const float>(beta.data(), {c.width});
        return qkv::layer_norm(from, to, both);
      }
      case Elementwise::kRmsNorm:
        return qkv::rms_norm(from, to, options);
      case Elementwise::kRotary: {
        // 12 heads, one after the other in memory, as in cases.js.
        const Index heads = 12;
        const Index tokens = c.rows / heads;
        return qkv::rotary_embedding(
            TensorView<const float>(x.data(), {Index{1}, heads, tokens, c.width}),
            TensorView<float>(y.data(), {Index{1}, heads, tokens, c.width}), {}, workspace);
      }
      case Elementwise::kCopy:
        std::copy(x.begin(), x.end(), y.begin());
        return Status();
    }
    return Status();
  });
  state.SetBytesProcessed(state.iterations() * c.rows * c.width * 8);
  dump(y);
}

struct TrainCase {
  const char* name;
  Index hidden;
};

/// The model of train_model.js with its weights.
Status make_trainer(Index hidden, qkv::train::LanguageModelTrainer& trainer) {
  qkv::LanguageModelConfig config;
  config.vocabulary = 64;
  config.num_layers = 2;
  config.d_model = 64;
  config.num_heads = 4;
  config.d_feed_forward = hidden;
  config.max_length = 32;
  config.activation = qkv::ModelActivation::kRelu;
  qkv::train::TrainerOptions options;
  options.weight_decay = 0.0F;
  options.clip_norm = 0.0F;
  Status status = qkv::train::LanguageModelTrainer::create(config, options, trainer);
  for (Index i = 0; status.ok() && i < trainer.array_count(); ++i) {
    const qkv::train::TrainedArray array = trainer.array(i);
    const Floats numbers = random(static_cast<std::uint32_t>(10 + i), array.value.size());
    const float gain = std::string_view(array.name).ends_with("gamma") ? 1.0F : 0.0F;
    std::transform(numbers.begin(), numbers.end(), array.value.data,
                   [=](float x) { return gain + 0.1F * x; });
  }
  return status;
}

/// Whole numbers below 64, as train_model.js has them.
std::vector<std::int32_t> whole(std::uint32_t seed, Index count) {
  std::vector<std::int32_t> all;
  for (const float x : random(seed, count)) {
    all.push_back(static_cast<std::int32_t>((x + 1.0F) / 2.0F * 64.0F));
  }
  return all;
}

void train_step(benchmark::State& state, const TrainCase& c) {
  qkv::train::LanguageModelTrainer trainer;
  if (const Status status = make_trainer(c.hidden, trainer); !status.ok()) {
    state.SkipWithError(status.message());
    return;
  }
  const std::vector<std::int32_t> ids = whole(1, 1024);
  const std::vector<std::int32_t> targets = whole(2, 1024);
  qkv::train::LanguageBatch batch;
  batch.tokens.ids = {ids.data(), {Index{32}, Index{32}}};
  batch.targets = {targets.data(), {Index{32}, Index{32}}};
  qkv::Workspace workspace(shared_threads());
  Floats losses;
  const auto step = [&] {
    qkv::train::StepResult result;
    Status status = trainer.step(batch, workspace, result);
    if (losses.size() < 3) {
      losses.push_back(static_cast<float>(result.before.loss));
    }
    return status;
  };
  const double products =
      2.0 * 1024 * (2.0 * (4 * 64 * 64 + 128.0 * static_cast<double>(c.hidden)) + 64 * 64);
  measure(state, 3.0 * (products + 4.0 * 2 * 32 * 64 * pairs(32, true)), step);
  while (losses.size() < 3 && step().ok()) {
  }
  dump(losses);
}

void sinusoidal(benchmark::State& state, Index length, Index width) {
  Floats table = zeros(length * width);
  const TensorView<float> view(table.data(), {length, width});
  measure(state, 0.0, [&] { return qkv::sinusoidal_encoding(view, 0, {}); });
  state.SetBytesProcessed(state.iterations() * length * width * 4);
}

void peak(benchmark::State& state, const PeakFunction& roof) {
  constexpr Index kSteps = 100000;
  for ([[maybe_unused]] auto unused : state) {
    benchmark::DoNotOptimize(roof.run(kSteps));
  }
  state.counters["flops"] = benchmark::Counter(static_cast<double>(roof.flops * kSteps),
                                               benchmark::Counter::kIsIterationInvariantRate);
}

template <class Function, class... Arguments>
void add(const std::string& name, Function* function, Arguments... arguments) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    function(state, arguments...);
  })->UseRealTime();
}

void add_all(std::string_view isa) {
  for (const PeakFunction& roof : qkv::bench::peak_functions()) {
    if (isa == roof.isa) {
      add("peak", peak, roof);
    }
  }
  for (const AttentionCase& c : {AttentionCase{"sdpa causal H12 T1024 d64", 12, 1024, 64, true},
                                 AttentionCase{"sdpa causal H8 T2048 d64", 8, 2048, 64, true},
                                 AttentionCase{"sdpa full H12 T1024 d64", 12, 1024, 64, false},
                                 AttentionCase{"sdpa smallest H1 T16 d64", 1, 16, 64, true},
                                 AttentionCase{"sdpa full H4 T8192 d16", 4, 8192, 16, false},
                                 AttentionCase{"sdpa one head T4096", 1, 4096, 64, true}}) {
    add(c.name, attention, c);
  }
  for (const AttentionCase& c :
       {AttentionCase{"sdpa backward, causal H12 T1024 d64", 12, 1024, 64, true},
        AttentionCase{"sdpa backward, one head T16384 d64", 1, 16384, 64, true}}) {
    add(c.name, attention_backward, c);
  }
  for (const LayerCase& c :
       {LayerCase{"layer T512 D768 H12", 512, 768, 12}, LayerCase{"layer T128 D64 H4", 128, 64, 4},
        LayerCase{"layer T16 D64 H4", 16, 64, 4}}) {
    add(c.name, layer, c);
  }
  for (const TrainCase& c : {TrainCase{"train step L2 d64 H4 T32 B32 V64", 0},
                             TrainCase{"train step L2 d64 H4 ff256 T32 B32 V64", 256}}) {
    add(c.name, train_step, c);
  }
  add("decode past1024 H12 d64", decode, DecodeCase{12, 12, 1024, 64});
  add("decode past8191 H32/8 d64", decode, DecodeCase{32, 8, 8191, 64});
  add("decode past8191 H32/8 d64, bf16", decode,
      DecodeCase{32, 8, 8191, 64, qkv::CacheFormat::kBf16});
  add("decode past8191 H12 d64", decode, DecodeCase{12, 12, 8191, 64});
  add("decode past8191 H12 d64, bf16", decode,
      DecodeCase{12, 12, 8191, 64, qkv::CacheFormat::kBf16});
  add("gemm 512x768x2304", gemm);
  add("linear 512x768x2304", linear);
  // Compiled for the best instruction set, whatever runs here.
  if (qkv::isa_supported(0)) {
    add("gemm 512x768x2304, Eigen", gemm_eigen);
  }
  for (const auto& [format, as] : {std::pair{"f32", qkv::WeightFormat::kF32},
                                   {"f16", qkv::WeightFormat::kF16},
                                   {"bf16", qkv::WeightFormat::kBf16},
                                   {"int8", qkv::WeightFormat::kInt8},
                                   {"int4", qkv::WeightFormat::kInt4}}) {
    for (const Index columns : {2048, 32000}) {
      for (const Index rows : {1, 512}) {
        add("product " + std::string(format) + " " + std::to_string(rows) + "x768x" +
                std::to_string(columns),
            product, ProductCase{as, rows, columns});
      }
    }
  }
  add("read 26 MB", read, Index{768 * 32000 / 32 * 34});
  for (const ElementwiseCase& c :
       {ElementwiseCase{"softmax 1024x1024", Elementwise::kSoftmax, 1024, 1024},
        ElementwiseCase{"softmax 6144x512", Elementwise::kSoftmax, 6144, 512},
        ElementwiseCase{"gelu 512x3072", Elementwise::kGelu, 512, 3072},
        ElementwiseCase{"layernorm 4096x768", Elementwise::kLayerNorm, 4096, 768},
        ElementwiseCase{"rmsnorm 4096x768", Elementwise::kRmsNorm, 4096, 768},
        ElementwiseCase{"copy 4096x768", Elementwise::kCopy, 4096, 768},
        ElementwiseCase{"rotary H12 T1024 d64", Elementwise::kRotary, 12288, 64},
        ElementwiseCase{"copy H12 T1024 d64", Elementwise::kCopy, 12288, 64}}) {
    add(c.name, elementwise, c);
  }
  add("sinusoidal 4096x1024", sinusoidal, Index{4096}, Index{1024});
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view isa = qkv::active_isa();
  if (isa.empty()) {
    std::fputs("QKV_ISA names an instruction set that cannot run here\n", stderr);
    return 4;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::AddCustomContext("isa", std::string(isa));
  add_all(isa);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
