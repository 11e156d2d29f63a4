// Sessions that are copied, and tokens that are forgotten in the middle: what moves, and how keys turn back.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "language_model_check.hpp"
#include "position_oracle.hpp"
#include "qkv/language_model.hpp"
#include "refusal.hpp"

namespace qkv::test::session_moves_test {
namespace {

constexpr double kUnit = 0x1p-24;
constexpr CacheFormat kFormats[] = {CacheFormat::kF32, CacheFormat::kBf16, CacheFormat::kInt8};

/// The caches of a session, one for each layer.
template <auto kMember>
struct Opened {
  friend KvCache* caches_of(ModelSession& session) { return session.*kMember; }
};
KvCache* caches_of(ModelSession& session);
template struct Opened<&ModelSession::caches_>;

struct Rows {
  std::vector<float> keys, values;
};
/// What the cache of layer n holds, each [batch, heads, length, d_k].
Rows rows_of(ModelSession& session, Index n) {
  const KvCache& cache = caches_of(session)[n];
  const KvCacheConfig& c = cache.config();
  const auto size = static_cast<std::size_t>(c.batch * c.num_kv_heads * cache.length() * c.d_k);
  Rows rows{std::vector<float>(size), std::vector<float>(size)};
  const auto view = [&](std::vector<float>& to) {
    return TensorView<float>(to.data(), {c.batch, c.num_kv_heads, cache.length(), c.d_k});
  };
  require_ok(cache.read_keys(view(rows.keys)));
  require_ok(cache.read_values(view(rows.values)));
  return rows;
}
/// Of the first two layers, which every family here has.
std::vector<float> all_of(ModelSession& session) {
  std::vector<float> all;
  for (Index n = 0; n < 2 && session.length() > 0; ++n) {
    const Rows rows = rows_of(session, n);
    all.insert(all.end(), rows.keys.begin(), rows.keys.end());
    all.insert(all.end(), rows.values.begin(), rows.values.end());
  }
  return all;
}

/// Families whose tokens may move.
std::vector<Family> movable() {
  std::vector<Family> all = families();
  LanguageModelConfig yarn = family("llama");
  yarn.rotary.scaling = {
      .type = RotaryScaling::Type::kYarn, .factor = 4, .original_length = 16, .beta_fast = 4};
  all.push_back({"yarn", yarn});
  std::erase_if(all, [](const Family& f) {
    return !f.config.causal || f.config.encoder_layers > 0 ||
           f.config.positions == ModelPositions::kLearned ||
           f.config.positions == ModelPositions::kSinusoidal;
  });
  return all;
}

/// A model, and a session that has read some tokens.
struct Talk {
  Talk(const LanguageModelConfig& config, const ModelSessionConfig& of, Index length,
       std::uint64_t seed = 5)
      : weights(config, seed), model(weights.make()), tokens(config, of.batch, length, seed) {
    require_ok(ModelSession::create(model, of, session));
    before = run(model, tokens, {.readings = true, .session = &session}, workspace);
  }
  Status remove(ModelRange range) { return session.remove(model, range, workspace); }

  ModelWeights weights;
  LanguageModel model;
  ModelTokens tokens;
  ModelSession session;
  Workspace workspace;
  ModelResults before;
};

/// What a key was, at an element of its row, and what rounds it.
class Key {
 public:
  Key(const LanguageModelConfig& config, const RotaryOptions* rotary, const float* gains,
      CacheFormat format)
      : c_(config), rotary_(rotary), gains_(gains), format_(format) {}

  /// Holds a row of a cache to the key as it came, turned back by n positions.
  void compare(Quantity& quantity, const float* found, const float* came, Index n) const {
    std::vector<double> exact(came, came + c_.d_k);
    std::vector<double> first = rounding(exact);
    std::vector<double> error = first;
    const Index r = rotary_ ? (rotary_->rotary_dim == 0 ? c_.d_k : rotary_->rotary_dim) : 0;
    for (Index pair = 0; pair < r / 2; ++pair) {
      const bool beside = rotary_->interleaved;
      const auto i = static_cast<std::size_t>(beside ? 2 * pair : pair);
      const auto j = beside ? i + 1 : i + static_cast<std::size_t>(r / 2);
      const double angle = -static_cast<double>(n) * oracle::rotary_frequency(*rotary_, r, pair);
      const double gi = gains_ ? static_cast<double>(gains_[i]) : 1.0;
      const double gj = gains_ ? static_cast<double>(gains_[j]) : 1.0;
      const double x = exact[i] / gi;
      const double y = exact[j] / gj;
      exact[i] = gi * (std::cos(angle) * x - std::sin(angle) * y);
      exact[j] = gj * (std::sin(angle) * x + std::cos(angle) * y);
      const double length = std::hypot(x, y);
      const double came_off = std::hypot(first[i] / gi, first[j] / gj);
      const double turned = (gains_ ? 8.0 : 3.2) * kUnit * length;
      error[i] = std::abs(gi) * (came_off + turned);
      error[j] = std::abs(gj) * (came_off + turned);
    }
    std::vector<double> moved = exact;
    for (std::size_t i = 0; i < moved.size(); ++i) {
      moved[i] = std::abs(moved[i]) + error[i];
    }
    const std::vector<double> again = rounding(moved);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      quantity.add(static_cast<double>(found[i]), exact[i], error[i] + again[i] + 0x1p-120);
    }
  }

 private:
  /// How far the numbers of a row may be moved by the format.
  [[nodiscard]] std::vector<double> rounding(const std::vector<double>& row) const {
    std::vector<double> error(row.size());
    for (std::size_t i = 0; format_ != CacheFormat::kF32 && i < row.size(); ++i) {
      if (format_ == CacheFormat::kBf16) {
        error[i] = 0x1p-8 * std::abs(row[i]);
        continue;
      }
      const std::size_t group = i / 32 * 32;
      for (std::size_t k = group; k < std::min(row.size(), group + 32); ++k) {
        error[i] = std::max(error[i], std::abs(row[k]) / 252.0);
      }
    }
    return error;
  }

  const LanguageModelConfig& c_;
  const RotaryOptions* rotary_;
  const float* gains_;
  CacheFormat format_;
};

/// The rotation of layer n; null for none.
const RotaryOptions* rotary_of(const LanguageModelConfig& c, Index n) {
  if (c.positions != ModelPositions::kRotary) {
    return nullptr;
  }
  const std::int32_t which = c.rotations.absent() ? 1 : c.rotations.data[n];
  return which == 0 ? nullptr : which == 1 ? &c.rotary : &c.second_rotary;
}

TEST_CASE("ModelSession::remove: keys that move turn back by as many positions, all else stays",
          "[model][session]") {
  for (const CacheFormat format : kFormats) {
    Quantity quantity("session keys that moved", format == CacheFormat::kF32    ? ""
                                                 : format == CacheFormat::kBf16 ? ", bf16"
                                                                                : ", int8");
    for (const Family& f : movable()) {
      CAPTURE(f.name);
      const Index length = 40;
      Talk talk(f.config, {.batch = 2, .format = format}, length);
      const LanguageModelConfig& c = talk.model.config();
      std::vector<Rows> before;
      for (Index n = 0; n < c.num_layers; ++n) {
        before.push_back(rows_of(talk.session, n));
      }
      const Index begin = 5;
      const Index gone = 9;
      require_ok(talk.remove({begin, begin + gone}));
      REQUIRE(talk.session.length() == length - gone);
      for (Index n = 0; n < c.num_layers; ++n) {
        CAPTURE(n);
        const Rows after = rows_of(talk.session, n);
        const bool rotated = c.qk_norm && c.qk_norm_of == QkNorm::kRotated;
        const std::string gains = "layers." + std::to_string(n) + ".attention.kGamma";
        const Key key(c, rotary_of(c, n), rotated ? talk.weights.arrays.at(gains).data() : nullptr,
                      format);
        for (Index head = 0; head < 2 * c.num_kv_heads; ++head) {
          for (Index t = 0; t < length - gone; ++t) {
            const Index from = t < begin ? t : t + gone;
            const auto row = [&](const std::vector<float>& all, Index tokens, Index at) {
              return all.data() + (head * tokens + at) * c.d_k;
            };
            const float* found = row(after.keys, length - gone, t);
            const float* held = row(before[static_cast<std::size_t>(n)].keys, length, from);
            if (t < begin || !rotary_of(c, n)) {
              REQUIRE(std::equal(found, found + c.d_k, held));
            } else {
              const auto& came = talk.before.layers[static_cast<std::size_t>(n)].k;
              key.compare(quantity, found, row(came, length, from), gone);
            }
            const float* value = row(after.values, length - gone, t);
            REQUIRE(std::equal(value, value + c.d_k,
                               row(before[static_cast<std::size_t>(n)].values, length, from)));
          }
        }
      }
    }
    require_within(quantity);
  }
}

TEST_CASE("ModelSession::remove: keys of the first layer are those of a session without the tokens",
          "[model][session]") {
  Quantity quantity("session keys beside those of forward");
  for (const Family& f : movable()) {
    CAPTURE(f.name);
    if (f.config.qk_norm && f.config.qk_norm_of == QkNorm::kRotated) {
      continue;  // their bound is of numbers without gains
    }
    Talk talk(f.config, {}, 30);
    require_ok(talk.remove({4, 11}));
    ModelTokens left = talk.tokens.part(0, 23);
    std::copy(talk.tokens.ids.begin() + 11, talk.tokens.ids.end(), left.ids.begin() + 4);
    ModelSession straight;
    require_ok(ModelSession::create(talk.model, {}, straight));
    run(talk.model, left, {.session = &straight}, talk.workspace);
    const Rows found = rows_of(talk.session, 0);
    const Rows expected = rows_of(straight, 0);
    CHECK(first_difference(found.values, expected.values) == "");
    const LanguageModelConfig& c = talk.model.config();
    const RotaryOptions* rotary = rotary_of(c, 0);
    const Index r = !rotary ? 0 : rotary->rotary_dim == 0 ? c.d_k : rotary->rotary_dim;
    for (std::size_t at = 0; at < found.keys.size(); at += static_cast<std::size_t>(c.d_k)) {
      for (Index i = 0; i < c.d_k; ++i) {
        const auto k = at + static_cast<std::size_t>(i);
        if (i >= r) {
          CHECK(found.keys[k] == expected.keys[k]);
          continue;
        }
        const bool beside = rotary->interleaved;
        const Index other = beside ? (i ^ 1) : i < r / 2 ? i + r / 2 : i - r / 2;
        const double length =
            std::hypot(static_cast<double>(expected.keys[k]),
                       static_cast<double>(expected.keys[at + static_cast<std::size_t>(other)]));
        quantity.add(static_cast<double>(found.keys[k]), static_cast<double>(expected.keys[k]),
                     10 * kUnit * length * (1 + 10 * kUnit));
      }
    }
  }
  require_within(quantity);
}

TEST_CASE("ModelSession::remove: a model of one layer says then what it says without the tokens",
          "[model][session]") {
  for (const char* name : {"llama", "llama3", "bloom", "mistral", "bare", "hunyuan"}) {
    CAPTURE(name);
    LanguageModelConfig config = family(name);
    config.num_layers = 1;
    config.windows = {};
    config.rotations = {};
    Talk talk(config, {}, 30);
    require_ok(talk.remove({3, 21}));
    ModelTokens left = talk.tokens.part(0, 12);
    std::copy(talk.tokens.ids.begin() + 21, talk.tokens.ids.end(), left.ids.begin() + 3);
    const ModelTokens next(config, 1, 4, 9);
    ModelTokens whole = left;
    whole.length = 16;
    whole.ids.insert(whole.ids.end(), next.ids.begin(), next.ids.end());
    const ModelCheck check(talk.weights.exact(), whole);
    const ModelResults found = run(talk.model, next, {.session = &talk.session}, talk.workspace);
    check.compare("session that forgot", found, {}, 12, 4);
  }
}

TEST_CASE("ModelSession::remove: of any tokens, one after another, and the last of them",
          "[model][session]") {
  LanguageModelConfig config = family("llama");
  config.max_length = 400;
  for (const CacheFormat format : kFormats) {
    for (const Index begin : {0, 1, 7, 63, 64, 65, 130}) {
      for (const Index gone : {1, 3, 16, 64, 100}) {
        CAPTURE(begin, gone);
        Talk talk(config, {.capacity = 300, .format = format}, 300);
        const Rows before = rows_of(talk.session, 1);
        require_ok(talk.remove({begin, begin + gone}));
        const Rows after = rows_of(talk.session, 1);
        const Index left = 300 - gone;
        const Index width = config.d_k == 0 ? config.d_model / config.num_heads : config.d_k;
        for (Index head = 0; head < config.num_kv_heads; ++head) {
          for (Index t = 0; t < left; ++t) {
            const float* held =
                before.values.data() + (head * 300 + (t < begin ? t : t + gone)) * width;
            const float* found = after.values.data() + (head * left + t) * width;
            REQUIRE(std::equal(found, found + width, held));
          }
        }
        // There is room again, and what stands there are numbers.
        const ModelTokens more(config, 1, gone, 6);
        const ModelResults results =
            run(talk.model, more, {.session = &talk.session}, talk.workspace);
        CHECK(talk.session.length() == 300);
        CHECK(std::all_of(results.logits.begin(), results.logits.end(),
                          [](float x) { return std::isfinite(x); }));
      }
    }
  }
}

TEST_CASE("ModelSession::remove: of nothing, and of the last tokens, whatever the positions",
          "[model][session]") {
  for (const char* name : {"llama", "gpt2"}) {
    Talk talk(family(name), {.batch = 2}, 9);
    const std::vector<float> before = all_of(talk.session);
    require_ok(talk.remove({4, 4}));
    require_ok(talk.remove({9, 9}));
    CHECK(first_difference(before, all_of(talk.session)) == "");
    require_ok(talk.remove({6, -1}));
    CHECK(talk.session.length() == 6);
    require_ok(talk.remove({0, 6}));
    CHECK(talk.session.length() == 0);
  }
}

TEST_CASE("ModelSession::remove: what is refused leaves the session as it was",
          "[model][session][bad-input]") {
  const auto refuses = [](Talk& talk, ModelRange range, const Refusal& refusal) {
    const std::vector<float> before = all_of(talk.session);
    require_refused(talk.remove(range), "ModelSession::remove", refusal);
    CHECK(first_difference(before, all_of(talk.session)) == "");
  };
  Talk talk(family("llama"), {}, 9);
  refuses(talk, {-1, 3}, {kRange, "begin", "is -1", "0 to 9"});
  refuses(talk, {10, 11}, {kRange, "begin", "is 10", "0 to 9"});
  refuses(talk, {3, 2}, {kRange, "end", "is 2", "3 to 9"});
  refuses(talk, {3, 10}, {kRange, "end", "is 10", "3 to 9"});
  Talk learned(family("gpt2"), {}, 9);
  refuses(learned, {3, 5}, {kUnsupported, "", "adds learned positions", "rotary"});
  Talk sines(family("sinusoidal"), {}, 9);
  refuses(sines, {3, 5}, {kUnsupported, "", "adds sinusoidal positions", "rotary"});

  LanguageModelConfig centred = family("hunyuan");
  centred.norm_type = NormType::kLayer;
  Talk mean(centred, {}, 9);
  refuses(mean, {3, 5}, {kUnsupported, "", "layer 0 has a layer norm on rotated keys", "RMS"});
  ModelWeights weights(family("hunyuan"), 5);
  weights.arrays.at("layers.1.attention.kGamma")[2] = 0.0F;
  Talk zero(family("hunyuan"), {}, 9);
  zero.model = weights.make();
  refuses(zero, {3, 5}, {kUnsupported, "", "gain 2 of the keys of layer 1 is 0", "none that is 0"});

  Workspace workspace;
  ModelSession empty;
  require_refused(empty.remove(talk.model, {0, 0}, workspace), "ModelSession::remove",
                  {kInvalid, "", "the session is empty", "create()"});
  const LanguageModel none;
  require_refused(talk.session.remove(none, {0, 1}, workspace), "ModelSession::remove",
                  {kInvalid, "", "the model is empty", "create()"});
  const LanguageModel other = ModelWeights(family("gemma2"), 5).make();
  require_refused(talk.session.remove(other, {0, 1}, workspace), "ModelSession::remove",
                  {kInvalid, "session", "", "another model"});
}

TEST_CASE("ModelSession::fork: both go on alone, with the bits of one that was not copied",
          "[model][session]") {
  for (const CacheFormat format : kFormats) {
    for (const auto& [length, capacity] : {std::pair<Index, Index>{9, 48}, {40, 40}, {100, 101}}) {
      CAPTURE(length, capacity);
      LanguageModelConfig config = family("gemma2");
      config.max_length = 130;
      const ModelSessionConfig of{.batch = 2, .capacity = capacity + 20, .format = format};
      Talk talk(config, of, length);
      Talk alone(config, of, length);
      ModelSession copy;
      require_ok(talk.session.fork(copy));
      CHECK(copy.length() == length);
      CHECK(copy.config().capacity == capacity + 20);
      CHECK(first_difference(all_of(copy), all_of(talk.session)) == "");
      const ModelTokens a(config, 2, 5, 1);
      const ModelTokens b(config, 2, 20, 2);
      const auto next = [&](ModelSession& session, const ModelTokens& tokens) {
        return run(talk.model, tokens, {.session = &session}, talk.workspace).all();
      };
      const std::vector<float> of_b = next(copy, b);
      const std::vector<float> of_a = next(talk.session, a);
      CHECK(first_difference(of_a, next(alone.session, a)) == "");
      require_ok(alone.session.truncate(length));
      CHECK(first_difference(of_b, next(alone.session, b)) == "");
    }
  }
}

TEST_CASE("ModelSession::fork: it takes the memory of what is held", "[model][session]") {
  LanguageModelConfig config = family("llama");
  config.max_length = 1000;
  Talk talk(config, {}, 300);
  require_ok(talk.session.truncate(70));
  ModelSession copy;
  require_ok(talk.session.fork(copy));
  CHECK(copy.bytes() < talk.session.bytes());
  CHECK(copy.max_bytes() == talk.session.max_bytes());
  ModelSession empty;
  require_refused(empty.fork(copy), "ModelSession::fork",
                  {kInvalid, "", "the session is empty", "create()"});
  CHECK(copy.length() == 70);
}

}  // namespace
}  // namespace qkv::test::session_moves_test
