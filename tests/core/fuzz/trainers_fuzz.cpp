// Models that are trained: any config, any options, and any sequence of calls on what came of them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "judge.hpp"
#include "model_input.hpp"
#include "qkv/train/language_model.hpp"
#include "qkv/train/seq2seq.hpp"

namespace qkv::fuzz {
namespace {

/// Numbers of training. Where all are `usual`, no step can leave what is finite.
struct Options {
  train::TrainerOptions of;
  bool usual = true;
};

Options options(Input& in) {
  Options made;
  train::TrainerOptions& o = made.of;
  o.seed = in.long_word();
  o.schedule.peak = in.pick({1e-3F, 0.0F, 0.1F, 1.0F});
  o.schedule.warmup = in.in(0, 5);
  o.schedule.steps = in.in(0, 9);
  o.dropout = in.pick({0.0F, 0.0F, 0.1F, 0.9F});
  o.clip_norm = in.pick({1.0F, 0.0F, 1e-3F});
  o.deviation = in.pick({0.02F, 0.5F, 1.5F});
  if (!in.chance(10)) {
    return made;
  }
  made.usual = false;
  float* const numbers[] = {&o.schedule.peak, &o.schedule.last, &o.beta1,   &o.beta2,    &o.epsilon,
                            &o.weight_decay,  &o.clip_norm,     &o.dropout, &o.deviation};
  *numbers[in.in(0, 8)] = in.real();
  if (in.chance(20)) {
    (in.chance(50) ? o.schedule.warmup : o.schedule.steps) = in.extreme();
  }
  return made;
}

// ------------------------------------------------------------------------------------------ two kinds

struct OfLanguageModel {
  using Trainer = train::LanguageModelTrainer;
  using Batch = train::LanguageBatch;
  static constexpr const char* kClass = "LanguageModelTrainer";

  static LanguageModelConfig config(Input& in) { return language_model_config(in); }
  /// Whether numbers of the config are such that a step stays finite.
  static bool is_usual(const LanguageModelConfig& c) {
    return std::abs(c.embedding_scale) <= 3.0F && c.epsilon == 1e-5F &&
           (c.attention_softcap == 0.0F || c.attention_softcap == 2.0F);
  }
  static Batch batch(Input& in, Arena& arena, const LanguageModelConfig& c) {
    const Index rows = in.in(1, 3);
    const Index length = in.in(1, in.chance(5) ? 12 : std::min<Index>(c.max_length, 9));
    Batch made;
    made.tokens.ids = tokens(in, arena, {rows, length}, c.vocabulary);
    made.targets = tokens(in, arena, {rows, length}, c.vocabulary);
    if (in.chance(30)) {
      made.tokens.key_lengths = arena.integers({rows}, 0, length, kDense);
    }
    return made;
  }
  /// What only this one has: logits and readings.
  static std::pair<const char*, Status> read(Input& in, Arena& arena, Trainer& trainer,
                                             Workspace& workspace) {
    const LanguageModelConfig& c = trainer.config();
    const Batch of = batch(in, arena, c);
    const Index rows = of.tokens.ids.extent(0);
    const Index length = of.tokens.ids.extent(1);
    const auto logits =
        in.chance(50) ? arena.out({rows, length, c.vocabulary}, kDense) : TensorView<float>();
    train::LayerReading reading;
    reading.layer = in.chance(10) ? in.extreme() : in.in(0, c.num_layers - 1);
    if (in.chance(50)) {
      reading.weights = arena.out({rows, c.num_heads, length, length});
    }
    if (in.chance(50)) {
      reading.entropy = arena.out({rows, c.num_heads, length});
    }
    if (in.chance(50)) {
      reading.residual = arena.out({rows, length, c.d_model}, kDense);
    }
    if (in.chance(50)) {
      reading.q = arena.out({rows, c.num_heads, length, c.d_k});
      reading.k = arena.out({rows, c.num_kv_heads, length, c.d_k});
      reading.v = arena.out({rows, c.num_kv_heads, length, c.d_k});
    }
    arena.remember();
    return {"forward", trainer.forward(of.tokens, logits, {&reading, 1}, workspace)};
  }
};

struct OfSeq2Seq {
  using Trainer = train::Seq2SeqTrainer;
  using Batch = train::Seq2SeqBatch;
  static constexpr const char* kClass = "Seq2SeqTrainer";

  static train::Seq2SeqConfig config(Input& in) {
    train::Seq2SeqConfig c;
    c.kind = choice(in, train::Seq2SeqKind::kTransformer);
    c.score = choice(in, train::Seq2SeqScore::kDot);
    c.vocabulary = count(in, 1, 9);
    c.num_heads = count(in, 1, 3);
    c.d_model = in.chance(20) ? count(in, 0, 12)
                              : std::min<Index>(std::max<Index>(c.num_heads, 1), 8) * in.in(1, 4);
    c.num_layers = count(in, 1, 2);
    c.d_feed_forward = in.chance(30) ? 0 : count(in, 0, 12);
    c.max_length = count(in, 1, 9);
    return c;
  }
  static bool is_usual(const train::Seq2SeqConfig&) { return true; }
  static Index length(Input& in, const train::Seq2SeqConfig& c) {
    return in.in(1, in.chance(5) ? 12 : std::min<Index>(c.max_length, 9));
  }
  static Batch batch(Input& in, Arena& arena, const train::Seq2SeqConfig& c) {
    const Index rows = in.in(1, 3);
    const Index sources = length(in, c);
    const Index targets = length(in, c);
    Batch made;
    made.tokens.source = tokens(in, arena, {rows, sources}, c.vocabulary);
    made.tokens.ids = tokens(in, arena, {rows, targets}, c.vocabulary);
    made.targets = tokens(in, arena, {rows, targets}, c.vocabulary);
    if (in.chance(50)) {
      made.tokens.source_lengths = arena.integers({rows}, 0, sources, kDense);
    }
    return made;
  }
  static std::pair<const char*, Status> read(Input& in, Arena& arena, Trainer& trainer,
                                             Workspace& workspace) {
    const train::Seq2SeqConfig& c = trainer.config();
    if (in.chance(30)) {
      const Index n = length(in, c);
      const auto source = tokens(in, arena, {n}, c.vocabulary);
      const auto norms = arena.out({n}, kDense);
      arena.remember();
      return {"reach", trainer.reach(source, norms, workspace)};
    }
    const Batch of = batch(in, arena, c);
    const Index rows = of.tokens.source.extent(0);
    const Index n = of.tokens.ids.extent(1);
    if (in.chance(50)) {
      Needs written = kDense;
      written.output = true;
      const train::Seq2SeqTrainer::Translation call = {
          .source = of.tokens.source,
          .source_lengths = of.tokens.source_lengths,
          .start = static_cast<std::int32_t>(in.in(in.chance(3) ? -1 : 0, c.vocabulary - 1)),
          .end = static_cast<std::int32_t>(in.in(0, c.vocabulary - (in.chance(3) ? 0 : 1))),
          .ids = arena.array<std::int32_t>({rows, n}, written),
          .lengths = arena.array<std::int32_t>({rows}, written)};
      arena.remember();
      return {"translate", trainer.translate(call, workspace)};
    }
    const auto logits =
        in.chance(50) ? arena.out({rows, n, c.vocabulary}, kDense) : TensorView<float>();
    const bool blocks = c.kind == train::Seq2SeqKind::kTransformer;
    const auto weights = in.chance(50)
                             ? arena.out({(blocks ? c.num_layers : 1) * rows,
                                          blocks ? c.num_heads : 1, n, of.tokens.source.extent(1)},
                                         kDense)
                             : TensorView<float>();
    arena.remember();
    return {"forward", trainer.forward(of.tokens, logits, weights, workspace)};
  }
};

// --------------------------------------------------------------------------------------- what is true

/// All that a step changes.
template <class Trainer>
std::vector<float> state_of(Trainer& trainer) {
  std::vector<float> all;
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const TensorView<float> value = trainer.array(i).value;
    const train::Moments moments = trainer.moments(i);
    all.insert(all.end(), value.data, value.data + value.size());
    all.insert(all.end(), moments.first, moments.first + value.size());
    all.insert(all.end(), moments.second, moments.second + value.size());
  }
  return all;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

/// One trainer, and what it is held to from call to call.
template <class Of>
class Session {
 public:
  using Trainer = typename Of::Trainer;

  explicit Session(Input& in) : in_(in), config_(Of::config(in)), options_(options(in)) {
    const std::size_t bytes = allocated_bytes();
    const Status status = Trainer::create(config_, options_.of, trainer_);
    if (!status.ok()) {
      require_refusal(Of::kClass, "create", status);
      if (trainer_.array_count() != 0 || allocated_bytes() != bytes) {
        fail("%s::create: a refused trainer is there", Of::kClass);
      }
    }
    finite_ = options_.usual && Of::is_usual(config_);
  }

  void run() {
    for (Index call = in_.in(1, 6); call > 0 && trainer_.array_count() > 0; --call) {
      switch (in_.in(0, 5)) {
        case 0:
        case 1:
          step();
          break;
        case 2:
          evaluate(in_.chance(50));
          break;
        case 3:
          read();
          break;
        case 4:
          set_steps();
          break;
        default:
          spoil_weights();
      }
    }
    if (trainer_.array_count() > 0) {
      require_resumes();
    }
  }

 private:
  /// Nothing but a step changes weights, and a refusal writes nothing at all.
  void judge(const char* call, const Status& status, const std::vector<float>& before,
             const Arena& arena, bool may_change = false) {
    if (!status.ok()) {
      require_refusal(Of::kClass, call, status);
      arena.require_untouched(call);
    } else {
      arena.require_only_outputs(call);
    }
    if (!(status.ok() && may_change) && !same(before, state_of(trainer_))) {
      fail("%s::%s: weights or moments have changed (%s)", Of::kClass, call, status.message());
    }
  }

  void step() {
    Arena arena(in_);
    const typename Of::Batch batch = Of::batch(in_, arena, trainer_.config());
    const std::vector<float> before = state_of(trainer_);
    const std::int64_t steps = trainer_.steps();
    arena.remember();
    train::StepResult result;
    const Status status = trainer_.step(batch, workspace_, result);
    judge("step", status, before, arena, true);
    if (trainer_.steps() != steps + (status.ok() ? 1 : 0) ||
        (status.ok() && result.step != steps + 1)) {
      fail("%s::step: %lld steps became %lld", Of::kClass, static_cast<long long>(steps),
           static_cast<long long>(trainer_.steps()));
    }
    const std::vector<float> after = state_of(trainer_);
    if (status.ok() && finite_ &&
        !std::all_of(after.begin(), after.end(), [](float x) { return std::isfinite(x); })) {
      fail("%s::step: accepted, and left what is not finite", Of::kClass);
    }
  }

  void evaluate(bool learn) {
    Arena arena(in_);
    const typename Of::Batch batch = Of::batch(in_, arena, trainer_.config());
    const std::vector<float> before = state_of(trainer_);
    arena.remember();
    train::Evaluation found;
    const Status status = learn ? trainer_.differentiate(batch, workspace_, found)
                                : trainer_.evaluate(batch, workspace_, found);
    judge(learn ? "differentiate" : "evaluate", status, before, arena);
    if (status.ok() && !(found.counted >= 1 && found.accuracy >= 0.0 && found.accuracy <= 1.0 &&
                         (!finite_ || found.loss >= 0.0))) {
      fail("%s: a loss of %g, %g right, %lld counted", Of::kClass, found.loss, found.accuracy,
           static_cast<long long>(found.counted));
    }
  }

  void read() {
    Arena arena(in_);
    const std::vector<float> before = state_of(trainer_);
    const auto [call, status] = Of::read(in_, arena, trainer_, workspace_);
    judge(call, status, before, arena);
  }

  void set_steps() {
    const std::int64_t wanted = in_.chance(30) ? in_.extreme() : in_.in(0, 20);
    const std::int64_t before = trainer_.steps();
    const Status status = trainer_.set_steps(wanted);
    const bool holds = wanted >= 0 && wanted < std::int64_t{1} << 53;
    if (status.ok() != holds || trainer_.steps() != (holds ? wanted : before)) {
      fail("%s::set_steps: %lld is \"%s\"", Of::kClass, static_cast<long long>(wanted),
           status.message());
    }
  }

  void spoil_weights() {
    const train::TrainedArray array = trainer_.array(in_.byte() % trainer_.array_count());
    array.value.data[in_.byte() % array.value.size()] = in_.real();
    finite_ = false;
  }

  /// Weights, moments and steps in another trainer make the same step of it.
  void require_resumes() {
    Trainer other;
    if (const Status status = Trainer::create(config_, options_.of, other); !status.ok()) {
      fail("%s::create: refused, and accepted before: %s", Of::kClass, status.message());
    }
    for (Index i = 0; i < trainer_.array_count(); ++i) {
      const Index n = trainer_.array(i).value.size();
      std::copy_n(trainer_.array(i).value.data, n, other.array(i).value.data);
      std::copy_n(trainer_.moments(i).first, n, other.moments(i).first);
      std::copy_n(trainer_.moments(i).second, n, other.moments(i).second);
    }
    if (!other.set_steps(trainer_.steps()).ok()) {
      fail("%s::set_steps: refuses its own count", Of::kClass);
    }
    Arena arena(in_);
    const typename Of::Batch batch = Of::batch(in_, arena, trainer_.config());
    train::StepResult first;
    train::StepResult second;
    const Status one = trainer_.step(batch, workspace_, first);
    const Status two = other.step(batch, workspace_, second);
    if (one.code() != two.code() || first.before.loss != second.before.loss ||
        !same(state_of(trainer_), state_of(other))) {
      fail("%s: resumed, it goes elsewhere: \"%s\", \"%s\"", Of::kClass, one.message(),
           two.message());
    }
  }

  Input& in_;
  decltype(Of::config(std::declval<Input&>())) config_;
  Options options_;
  Trainer trainer_;
  Workspace workspace_;
  bool finite_ = true;  ///< whether all numbers are such that they stay finite
};

}  // namespace
}  // namespace qkv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace qkv::fuzz;
  Input in(data, size);
  const std::size_t before = qkv::allocated_bytes();
  select_any_isa(in);
  if (in.chance(50)) {
    Session<OfLanguageModel>(in).run();
  } else {
    Session<OfSeq2Seq>(in).run();
  }
  if (qkv::allocated_bytes() != before) {
    fail("a trainer keeps %zu bytes", qkv::allocated_bytes() - before);
  }
  return 0;
}
