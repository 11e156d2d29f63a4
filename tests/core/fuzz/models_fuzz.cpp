// Language models that are run: any config and format, any rows for any array, any sequence of passes; and any draw.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "judge.hpp"
#include "model_input.hpp"
#include "qkv/language_model.hpp"
#include "qkv/sampling.hpp"

namespace qkv::fuzz {
namespace {

constexpr const char* kModel = "LanguageModel";

/// Any config of what can be run; `windows` has those of the layers.
LanguageModelConfig any_config(Input& in, std::vector<std::int32_t>& windows) {
  LanguageModelConfig c = language_model_config(in);
  c.activation = choice(in, ModelActivation::kRelu2);
  if (in.chance(10)) {
    c.rotary.scaling = {.type = RotaryScaling::Type::kLlama3,
                        .factor = in.chance(10) ? in.real64() : 8.0,
                        .original_length = in.in(0, 99)};
  }
  if (in.chance(20)) {
    for (Index n = in.chance(5) ? in.in(0, 4) : c.num_layers; n > 0 && n < 9; --n) {
      windows.push_back(in.chance(3) ? -5 : static_cast<std::int32_t>(in.in(0, 9)) - 1);
    }
    c.windows = {windows.data(), {static_cast<Index>(windows.size())}};
  }
  if (in.chance(20)) {
    c.attention_scale = in.chance(20) ? in.real() : 0.3F;
  }
  if (in.chance(20)) {
    c.qkv_biases = in.chance(50);
  }
  c.logit_softcap = in.chance(5) ? in.real() : in.pick({0.0F, 3.0F});
  c.post_norms = in.chance(20);
  c.head_bias = in.chance(20);
  c.first_norm = !in.chance(20);
  c.symmetric_window = in.chance(20);
  c.qk_norm_of = choice(in, QkNorm::kWhole);
  c.relative_buckets = in.chance(30) ? count(in, 0, 12) : 0;
  if (in.chance(20)) {  // what an encoder goes with, most of the time
    c.encoder_layers = in.chance(10) ? in.extreme() : in.in(1, 3);
    c.norm = NormPlacement::kPre;
    c.positions = ModelPositions::kNone;
    c.window = -1;
    c.windows = {};
    c.causal = c.first_norm = true;
    c.parallel_residual = c.post_norms = c.qk_norm = c.symmetric_window = false;
  }
  c.num_experts = in.chance(20) ? count(in, 0, 4) : 0;
  c.experts_per_token = c.num_experts > 0 ? count(in, 1, 4) : 0;
  c.token_types = in.chance(20) ? count(in, 0, 3) : 0;
  c.embedding_norm = in.chance(20);
  c.head = !in.chance(20);
  if (in.chance(20)) {
    c.head_transform = choice(in, HeadTransform::kTanh);
    c.head_norm = in.chance(c.head_transform == HeadTransform::kNone ? 3 : 50);
    c.head_pooling = choice(in, HeadPooling::kLast);
    c.classes = in.chance(50) ? count(in, 1, 5) : 0;
    c.tied_embeddings = c.tied_embeddings && (c.classes == 0 || in.chance(5));
  }
  return c;
}

/// One model, and what it is held to from call to call.
class Session {
 public:
  explicit Session(Input& in) : in_(in), config_(any_config(in, windows_)) {
    const std::size_t bytes = allocated_bytes();
    format_ = choice(in, WeightFormat::kInt4);
    const Status status = LanguageModel::create(config_, format_, model_);
    if (!status.ok()) {
      require_refusal(kModel, "create", status);
      if (model_.array_count() != 0 || allocated_bytes() != bytes) {
        fail("LanguageModel::create: a refused model is there");
      }
    }
  }

  void run() {
    if (model_.array_count() == 0) {
      return;
    }
    for (Index n = in_.in(0, 5); n > 0; --n) {
      fill_any();
    }
    if (in_.chance(10)) {
      finish_early();
    }
    fill_rest();
    for (Index n = in_.in(1, 6); n > 0; --n) {
      in_.chance(25) ? start() : in_.chance(15) ? truncate() : in_.chance(15) ? encode() : pass();
    }
  }

 private:
  [[nodiscard]] Index left(Index i, bool out_in) const {
    const ModelArray array = model_.array(i);
    const bool table = array.name == std::string("embedding");
    const Index row = array.rank == 1 ? array.shape[0] : array.shape[out_in && !table ? 0 : 1];
    const Index rows = array.rank == 1 ? 1 : array.shape[out_in && !table ? 1 : 0];
    return rows - array.filled / row;
  }

  /// Rows of any type, in a block that ends where they do.
  void fill_any() {
    const Index i = in_.chance(3) ? in_.extreme() : in_.in(0, model_.array_count() - 1);
    const bool known = i >= 0 && i < model_.array_count();
    ModelRows rows;
    rows.type = choice(in_, NumberType::kIq4Xs);
    rows.layout = in_.chance(50) ? WeightLayout::kOutIn : WeightLayout::kInOut;
    const ModelArray array = known ? model_.array(i) : ModelArray{"", 1, {1, 0}, 0};
    rows.count = in_.chance(5) ? in_.in(0, 99)
                 : known       ? std::max<Index>(left(i, rows.layout == WeightLayout::kOutIn), 1)
                               : 1;
    const Index longest = std::max(array.shape[0], array.rank == 2 ? array.shape[1] : 0);
    rows.row_bytes = in_.chance(5) ? in_.extreme() : (longest + 31) / 32 * 32 * 4 + in_.in(0, 3);
    if (rows.row_bytes < 0 || rows.row_bytes > 4096 || rows.count > 4096) {
      rows.row_bytes = in_.chance(50) ? -1 : 0;  // nothing is there to read
    }
    const auto size = static_cast<std::size_t>(std::max<Index>(rows.row_bytes, 4096) * rows.count);
    const std::unique_ptr<std::uint8_t[]> block(new std::uint8_t[size]);
    const std::vector<float> numbers = in_.floats(size / 4);
    if (size > 0) {
      std::memcpy(block.get(), numbers.data(), size / 4 * 4);
    }
    rows.data = in_.chance(2) ? nullptr : block.get();
    const std::vector<std::uint16_t> scales(
        static_cast<std::size_t>((rows.count + 32) * (longest + 32)),
        in_.chance(5) ? 0x7E00 : 0x2C00);
    rows.scales = in_.chance(90) ? scales.data() : nullptr;
    rows.scale_stride = longest;
    const Index filled = known ? array.filled : 0;
    const Status status = model_.fill(i, rows);
    if (!status.ok()) {
      require_refusal(kModel, "fill", status);
      if (known && model_.array(i).filled != filled) {
        fail("LanguageModel::fill: refused, and %lld are there instead of %lld",
             static_cast<long long>(model_.array(i).filled), static_cast<long long>(filled));
      }
    }
  }

  void finish_early() {
    bool full = true;
    for (Index i = 0; i < model_.array_count(); ++i) {
      full = full && is_full(i);
    }
    const Status status = model_.finish();
    if (status.ok() != full) {
      fail("LanguageModel::finish: \"%s\" where arrays are %s", status.message(),
           full ? "full" : "not full");
    }
    finished_ = full;
  }

  [[nodiscard]] bool is_full(Index i) const {
    const ModelArray array = model_.array(i);
    return array.filled == array.shape[0] * (array.rank == 2 ? array.shape[1] : 1);
  }

  /// Any numbers; or where an array takes not all of them, as int8 does not, zeros.
  void fill_rest() {
    for (Index i = 0; i < model_.array_count() && !finished_; ++i) {
      for (int attempt = 0; attempt < 4 && !is_full(i); ++attempt) {
        const bool out_in = attempt % 2 == 1;  // one of the two is that of the rows before
        const ModelArray array = model_.array(i);
        const Index count = left(i, out_in);
        const Index width = std::max(array.shape[0], array.rank == 2 ? array.shape[1] : 0);
        const auto size = static_cast<std::size_t>(count * width);
        const std::vector<float> values = attempt < 2 ? in_.floats(size) : std::vector<float>(size);
        const Status status =
            model_.fill(i, {.data = values.data(),
                            .count = count,
                            .row_bytes = width * 4,
                            .layout = out_in ? WeightLayout::kOutIn : WeightLayout::kInOut});
        if (!status.ok()) {
          require_refusal(kModel, "fill", status);
        }
      }
    }
    if (const Status status = model_.finish(); !status.ok()) {
      fail("LanguageModel::finish: refuses a full model: %s", status.message());
    }
  }

  void start() {
    ModelSessionConfig c;
    c.batch = count(in_, 1, 2);
    c.capacity = in_.chance(50) ? count(in_, 0, 9) : 0;
    c.format = choice(in_, CacheFormat::kInt8);
    const Index length = session_.length();
    const bool has_source = model_.config().encoder_layers > 0;
    c.source_capacity = in_.chance(has_source ? 50 : 5) ? count(in_, 0, 9) : 0;
    const Status status = ModelSession::create(model_, c, session_);
    if (!status.ok()) {
      require_refusal("ModelSession", "create", status);
    }
    if (session_.length() != (status.ok() ? 0 : length)) {
      fail("ModelSession::create: %lld tokens are there",
           static_cast<long long>(session_.length()));
    }
    if (status.ok() && has_source) {
      encode();
    }
  }

  /// A source for the session that is there, which keeps its own if it is refused.
  void encode() {
    const Index before = session_.source_length();
    const Index held = session_.length();
    Arena arena(in_);
    const Index rows = in_.chance(95) ? session_.config().batch : in_.in(1, 3);
    const Index most = std::max<Index>(session_.config().source_capacity, 1);
    const Index length = in_.in(1, in_.chance(5) ? 12 : std::min<Index>(most, 9));
    const LanguageModel::EncodeArgs a{
        .source = tokens(in_, arena, {rows, length}, model_.config().vocabulary),
        .session = in_.chance(97) ? &session_ : nullptr};
    arena.remember();
    Workspace workspace;
    const Status status = model_.encode(a, workspace);
    arena.require_untouched("LanguageModel::encode");
    if (!status.ok()) {
      require_refusal(kModel, "encode", status);
    }
    if (session_.length() != held || session_.source_length() != (status.ok() ? length : before)) {
      fail("LanguageModel::encode: a source of %lld tokens (%s)",
           static_cast<long long>(session_.source_length()), status.message());
    }
  }

  void truncate() {
    const Index length = session_.length();
    const Index wanted = in_.chance(20) ? in_.extreme() : in_.in(0, 9);
    const Status status = session_.truncate(wanted);
    const bool holds = wanted >= 0 && wanted <= length;
    if (session_.length() != (status.ok() ? wanted : length) || (status.ok() && !holds)) {
      fail("ModelSession::truncate: of %lld tokens to %lld, \"%s\"", static_cast<long long>(length),
           static_cast<long long>(wanted), status.message());
    }
  }

  TensorView<float> maybe(Arena& arena, std::initializer_list<Index> shape, bool dense = true) {
    return in_.chance(50) ? arena.out(shape, {.dense = dense}) : TensorView<float>();
  }

  static constexpr ModelSite site_of(Index n) { return static_cast<ModelSite>(n); }

  Index some_layer() {
    const Index layers = std::min<Index>(model_.config().num_layers, 99);
    return in_.chance(5) ? in_.extreme() : in_.in(0, layers - 1);
  }

  /// An extent that a range can be drawn in: that of a damaged array may be anything.
  static Index drawable(Index extent) { return std::clamp<Index>(extent, 0, 255); }

  ModelReading reading(Arena& arena, const LanguageModel::ForwardArgs& a) {
    const Index length = drawable(a.ids.extent(1));
    ModelReading r;
    r.site = site_of(in_.in(0, in_.chance(3) ? 255 : kModelSites - 1));
    r.layer = some_layer();
    r.row_begin = in_.chance(20) ? in_.in(0, length) : 0;
    r.row_end = in_.chance(20) ? in_.in(0, length) : -1;
    const TensorView<float> of = model_.reading_view(a, r, nullptr);
    const auto extent = [&](int axis) { return std::max<Index>(of.extent(axis), 0); };
    const bool dense = r.site == ModelSite::kLogits;
    r.to = of.rank == 4 ? arena.out({extent(0), extent(1), extent(2), extent(3)}, {.dense = dense})
                        : arena.out({extent(0), extent(1), extent(2)}, {.dense = dense});
    return r;
  }

  ModelRange range(Index extent) {
    return {in_.chance(30) ? in_.in(0, extent) : 0, in_.chance(30) ? in_.in(0, extent) : -1};
  }

  ModelEdit edit(const LanguageModel::ForwardArgs& a) {
    static const float numbers[] = {0.5F, -INFINITY};
    ModelEdit e;
    e.site = site_of(in_.in(0, in_.chance(3) ? 255 : kModelSites - 1));
    e.layer = some_layer();
    e.head = in_.chance(50) ? -1 : in_.in(0, std::min<Index>(model_.config().num_heads, 99));
    TensorView<float> of = model_.reading_view(a, {.site = e.site}, nullptr);
    std::ranges::transform(of.shape, std::ranges::begin(of.shape), drawable);
    e.batch = range(of.extent(0));
    e.rows = range(of.extent(of.rank - 2));
    const bool of_keys = e.site == ModelSite::kScores || e.site == ModelSite::kWeights;
    (of_keys || in_.chance(3) ? e.keys : e.columns) = range(of.extent(of.rank - 1));
    if (in_.chance(50)) {
      e.scale = 2.0F;
    }
    const auto chosen = [](const ModelRange& some, Index all) {
      return (some.end < 0 ? all : some.end) - some.begin;
    };
    of.shape[0] = chosen(e.batch, of.extent(0));
    if (of.rank == 4 && e.head >= 0) {
      of.shape[1] = 1;
    }
    const auto rows = static_cast<std::size_t>(of.rank - 2);
    of.shape[rows] = chosen(e.rows, of.shape[rows]);
    of.shape[rows + 1] = chosen(of_keys ? e.keys : e.columns, of.shape[rows + 1]);
    of.strides = {};
    TensorView<const float> operand = of;
    operand.data = &numbers[in_.in(0, 1)];
    (in_.chance(50) ? e.value : e.add) = operand;
    return e;
  }

  LanguageModel::ForwardArgs args(Arena& arena, std::vector<ModelReading>& readings,
                                  std::vector<ModelEdit>& edits) {
    const LanguageModelConfig& c = model_.config();
    LanguageModel::ForwardArgs a;
    a.session = in_.chance(50) ? &session_ : nullptr;
    const Index held = a.session ? session_.length() : 0;
    const Index rows = a.session && in_.chance(95) ? session_.config().batch : in_.in(1, 3);
    const Index room =
        std::max<Index>((a.session ? session_.config().capacity : c.max_length) - held, 1);
    const Index length = in_.in(1, in_.chance(5) ? 12 : std::min<Index>(room, 9));
    a.ids = tokens(in_, arena, {rows, length}, c.vocabulary);
    if (c.token_types > 0 && in_.chance(70)) {
      a.token_types = tokens(in_, arena, {rows, length}, c.token_types);
    }
    if (in_.chance(a.session ? 3 : 30)) {
      a.key_lengths = arena.integers({rows}, 0, length, kDense);
    }
    const bool head = c.head || in_.chance(5);
    const Index outputs = c.classes > 0 ? c.classes : c.vocabulary;
    const bool pooled = c.head_pooling != HeadPooling::kNone && !in_.chance(5);
    const bool of_tokens = (c.classes == 0 && !pooled) || in_.chance(5);
    a.logits = head ? maybe(arena, {rows, pooled || in_.chance(50) ? 1 : length, outputs})
                    : TensorView<float>();
    a.hidden = maybe(arena, {rows, in_.chance(50) ? 1 : length, c.d_model});
    a.surprisal = head && of_tokens ? maybe(arena, {rows, length - 1}) : TensorView<float>();
    for (Index n = in_.in(0, 2); n > 0; --n) {
      readings.push_back(reading(arena, a));
      edits.push_back(edit(a));
    }
    a.readings = readings;
    a.edits = edits;
    if (in_.chance(10)) {
      a.begin = {arena.in({rows, length, c.d_model}, {.dense = true}), some_layer()};
    }
    return a;
  }

  void pass() {
    Arena arena(in_);
    std::vector<ModelReading> readings;
    std::vector<ModelEdit> edits;
    const LanguageModel::ForwardArgs a = args(arena, readings, edits);
    arena.remember();
    const Index before = session_.length();
    const std::size_t scratch = model_.forward_scratch_bytes(a);
    Workspace workspace;
    const Status status = model_.forward(a, workspace);
    if (!status.ok()) {
      require_refusal(kModel, "forward", status);
      arena.require_untouched("LanguageModel::forward");
    } else {
      arena.require_only_outputs("LanguageModel::forward");
    }
    // Of a pass that begins with a later layer the session keeps nothing.
    const bool is_kept = status.ok() && a.session && a.begin.layer == 0;
    const Index added = is_kept ? a.ids.extent(1) : 0;
    if (session_.length() != before + added) {
      fail("LanguageModel::forward: a session of %lld holds %lld tokens (%s)",
           static_cast<long long>(before), static_cast<long long>(session_.length()),
           status.message());
    }
    if (status.ok() && (scratch != workspace.capacity_bytes())) {
      fail("LanguageModel::forward: %zu bytes of scratch are said, %zu taken", scratch,
           workspace.capacity_bytes());
    }
    if (status.ok()) {
      judge_again(arena, a, before);
    }
  }

  /// The same call gives the same bits.
  void judge_again(Arena& arena, const LanguageModel::ForwardArgs& a, Index before) {
    const std::vector<float> first = arena.outputs();
    if (a.session && !session_.truncate(before).ok()) {
      fail("ModelSession::truncate: refuses %lld", static_cast<long long>(before));
    }
    arena.restore();
    Workspace workspace;
    const Status status = model_.forward(a, workspace);
    const std::vector<float> second = arena.outputs();
    if (!status.ok() || first.size() != second.size() ||
        (!first.empty() &&
         std::memcmp(first.data(), second.data(), first.size() * sizeof(float)) != 0)) {
      fail("LanguageModel::forward: other bits the second time (%s)", status.message());
    }
  }

  Input& in_;
  std::vector<std::int32_t> windows_;
  LanguageModelConfig config_;
  WeightFormat format_ = WeightFormat::kF32;
  LanguageModel model_;
  ModelSession session_;
  bool finished_ = false;
};

/// Any draw.
void draw(Input& in) {
  Arena arena(in);
  SamplingArgs args;
  const Index v = in.in(1, 60);
  args.logits = arena.in({v}, {.dense = true, .unconstrained = 1});
  if (in.chance(40)) {
    args.seen = arena.integers({in.in(0, 9)}, 0, v - 1, {.dense = true, .unconstrained = 1});
  }
  SamplingOptions& o = args.options;
  o.temperature = in.pick({0.0F, 0.7F, 1.0F, 1e-30F, 1e30F});
  o.top_k = in.pick<Index>({0, 1, 5, 1000});
  o.top_p = in.pick({1.0F, 0.9F, 1e-9F});
  o.min_p = in.pick({0.0F, 0.1F, 1.0F});
  o.repetition_penalty = in.pick({1.0F, 1.3F, 0.5F, 1e30F});
  o.seed = in.long_word();
  o.step = in.long_word();
  if (in.chance(20)) {
    float* const numbers[] = {&o.temperature, &o.top_p, &o.min_p, &o.repetition_penalty};
    *numbers[in.in(0, 3)] = in.real();
  }
  if (in.chance(5)) {
    o.top_k = in.extreme();
  }
  arena.remember();
  Workspace workspace;
  SampledToken token{.id = -7, .log_probability = 1.0F};
  const Status status = sample(args, workspace, token);
  arena.require_untouched("sample");
  if (!status.ok()) {
    const std::string message = status.message();
    if (token.id != -7 || token.log_probability != 1.0F) {
      fail("sample: refused, and token %d is written", token.id);
    }
    if (!message.starts_with("sample: ") || message.find(", expected ") == std::string::npos) {
      fail("sample: refused with \"%s\"", message.c_str());
    }
    return;
  }
  const Index count = args.logits.extent(0);
  if (token.id < 0 || token.id >= count || !(args.logits.data[token.id] > -INFINITY) ||
      !(token.log_probability <= 0.0F)) {
    fail("sample: token %d of %lld, ln p = %g", token.id, static_cast<long long>(count),
         static_cast<double>(token.log_probability));
  }
}

}  // namespace
}  // namespace qkv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace qkv::fuzz;
  Input in(data, size);
  const std::size_t before = qkv::allocated_bytes();
  select_any_isa(in);
  if (in.chance(25)) {
    draw(in);
  } else {
    Session(in).run();
  }
  if (qkv::allocated_bytes() != before) {
    fail("a model keeps %zu bytes", qkv::allocated_bytes() - before);
  }
  return 0;
}
