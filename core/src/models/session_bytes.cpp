// Sessions as bytes.
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "attention/kv_cache_access.hpp"
#include "base/float_count.hpp"
#include "check/check.hpp"
#include "models/call_check.hpp"
#include "models/model_state.hpp"

namespace qkv {
namespace {

constexpr const char* kSave = "ModelSession::save";
constexpr const char* kRestore = "ModelSession::restore";

static_assert(std::endian::native == std::endian::little,
              "numbers of saved sessions are little-endian, and are copied as they lie in memory");

/// "qkvsess" and a zero.
constexpr std::uint64_t kMagic = 0x00737365'73766b71U;
constexpr std::uint64_t kVersion = 1;

/// The numbers that a saved session begins with.
struct SavedHeader {
  std::uint64_t magic = kMagic, version = kVersion;
  std::uint64_t format = 0, batch = 0, capacity = 0, length = 0;
  std::uint64_t source_capacity = 0, source_length = 0;
  std::uint64_t layers = 0, heads = 0, width = 0, config = 0;
};
static_assert(sizeof(SavedHeader) == 96);

/// FNV-1a over 64-bit numbers.
class ConfigHash {
 public:
  void add(std::uint64_t number) noexcept {
    for (int byte = 0; byte < 8; ++byte) {
      hash_ = (hash_ ^ (number >> (8 * byte) & 0xffU)) * 0x100000001b3U;
    }
  }
  void add(double number) noexcept { add(std::bit_cast<std::uint64_t>(number)); }
  template <class... Numbers>
  void add_all(Numbers... numbers) noexcept {
    (add(static_cast<double>(numbers)), ...);
  }
  void add(const RotaryOptions& rotary) noexcept {
    const RotaryScaling& s = rotary.scaling;
    add_all(rotary.base, rotary.rotary_dim, rotary.interleaved, static_cast<int>(s.type), s.factor,
            s.original_length, s.beta_fast, s.beta_slow, s.attention_factor.value_or(0.0),
            s.low_frequency_factor, s.high_frequency_factor);
    for (Index i = 0; i < s.factors.extent(0); ++i) {
      add_all(*s.factors.at(i));
    }
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

/// Of all that decides what keys and values a layer computes. max_length, which is of the room alone, is not of it.
std::uint64_t hash_of(const ModelState& state) noexcept {
  const LanguageModelConfig& c = state.config;
  ConfigHash hash;
  hash.add_all(c.vocabulary, c.num_layers, c.d_model, c.num_heads, c.num_kv_heads, c.d_k,
               c.d_feed_forward, static_cast<int>(c.norm), static_cast<int>(c.norm_type), c.epsilon,
               static_cast<int>(c.activation), static_cast<int>(c.positions), c.qk_norm,
               c.parallel_residual, c.biases.value_or(false), c.embedding_scale,
               c.attention_softcap, c.attention_scale.value_or(0.0F), c.qkv_biases.value_or(false),
               c.post_norms, c.token_types, c.embedding_norm, static_cast<int>(c.qk_norm_of),
               c.first_norm, c.relative_buckets, c.relative_max_distance, c.encoder_layers,
               c.num_experts, c.experts_per_token, c.normalized_experts);
  for (const ModelLayer& layer : state.layers) {
    const LayerAttention& a = layer.config.attention;
    hash.add_all(a.window, a.window_right, a.rotation);
    if (a.rotary) {
      hash.add(*a.rotary);
    }
  }
  return hash.value();
}

/// Bytes of the tokens of all caches, without the header.
std::uint64_t token_bytes(const SavedHeader& h, kernels::KeyFormat format) noexcept {
  const auto row = static_cast<std::uint64_t>(saved_row_bytes(format, static_cast<Index>(h.width)));
  const std::uint64_t heads = h.layers * h.batch * h.heads;
  return 2 * heads * row * (h.length + h.source_length);
}

std::uint64_t all_bytes(const SavedHeader& h, kernels::KeyFormat format) noexcept {
  return (sizeof h + token_bytes(h, format) + 3) / 4 * 4;
}

/// f(cache) for the caches of all layers, then for those of the source.
template <class F>
void each_cache(KvCache* caches, KvCache* sources, Index layers, const F& f) noexcept {
  for (KvCache* all : {caches, sources}) {
    for (Index n = 0; all && n < layers; ++n) {
      f(all[n]);
    }
  }
}

/// Rows of one head that are in memory at a time: whole blocks, so that panels are written once.
constexpr Index kRows = kernels::kKeyBlock;

/// One of the numbers of a header that must be those of the model.
struct Expected {
  const char* what;
  std::uint64_t was, expected;
};

Status check_header(const SavedHeader& h, const SavedHeader& of_model) noexcept {
  const Expected numbers[] = {{"layers", h.layers, of_model.layers},
                              {"heads of keys and values", h.heads, of_model.heads},
                              {"numbers in a key", h.width, of_model.width}};
  for (const Expected& each : numbers) {
    if (each.was != each.expected) {
      return refuse(StatusCode::kInvalidArgument, kRestore,
                    "@from has {} {}, expected {}: it is of a session of another model",
                    static_cast<Index>(each.was), Verbatim{each.what},
                    static_cast<Index>(each.expected));
    }
  }
  return h.config == of_model.config
             ? Status{}
             : refuse(
                   StatusCode::kInvalidArgument, kRestore,
                   "@from is of a model of another config, expected one of this model: positions, "
                   "norms, windows, sizes and factors are compared");
}

/// Sizes that an index holds, and that multiply to one.
Status check_sizes(const SavedHeader& h, std::size_t given) noexcept {
  constexpr std::uint64_t kMost = 0x7fffffffU;
  const struct {
    const char* what;
    std::uint64_t was, least, most;
  } sizes[] = {{"format", h.format, 0, 2},
               {"batch", h.batch, 1, kMost},
               {"capacity", h.capacity, 1, kMost},
               {"length", h.length, 0, h.capacity},
               {"source_capacity", h.source_capacity, 0, kMost},
               {"source_length", h.source_length, 0, h.source_capacity}};
  for (const auto& each : sizes) {
    if (each.was < each.least || each.was > each.most) {
      return refuse(StatusCode::kInvalidArgument, kRestore,
                    "the {} of @from is {}, expected {} to {}: it is no saved session",
                    Verbatim{each.what}, each.was, each.least, each.most);
    }
  }
  const auto format = KvCacheAccess::kFormats[h.format];
  const double rows = 2.0 * static_cast<double>(h.layers * h.heads) * static_cast<double>(h.batch) *
                      static_cast<double>(h.length + h.source_length);
  const double bytes =
      rows * static_cast<double>(saved_row_bytes(format, static_cast<Index>(h.width)));
  if (bytes > 0x1p62 || all_bytes(h, format) != given) {
    return refuse(StatusCode::kShapeMismatch, kRestore,
                  "@from has {} bytes, expected {} for {} tokens", given,
                  bytes > 0x1p62 ? bytes : static_cast<double>(all_bytes(h, format)),
                  static_cast<Index>(h.length));
  }
  return {};
}

/// The numbers of a session, with those of a model.
SavedHeader header_of(const ModelState& state, const ModelSession& session) noexcept {
  const LanguageModelConfig& c = state.config;
  const ModelSessionConfig& s = session.config();
  const auto word = [](Index number) { return static_cast<std::uint64_t>(number); };
  return {.format = static_cast<std::uint64_t>(s.format),
          .batch = word(s.batch),
          .capacity = word(s.capacity),
          .length = word(session.length()),
          .source_capacity = word(s.source_capacity),
          .source_length = word(session.source_length()),
          .layers = word(c.num_layers),
          .heads = word(c.num_kv_heads),
          .width = word(c.d_k),
          .config = hash_of(state)};
}

}  // namespace

std::uint64_t ModelSession::saved_bytes() const noexcept {
  if (layers_ == 0) {
    return 0;
  }
  const KvCacheConfig& c = caches_[0].config();
  SavedHeader h;
  h.batch = static_cast<std::uint64_t>(c.batch);
  h.heads = static_cast<std::uint64_t>(c.num_kv_heads);
  h.width = static_cast<std::uint64_t>(c.d_k);
  h.layers = static_cast<std::uint64_t>(layers_);
  h.length = static_cast<std::uint64_t>(length());
  h.source_length = static_cast<std::uint64_t>(source_length());
  return all_bytes(h, KvCacheAccess::rows(caches_[0]).format);
}

Status ModelSession::save(const LanguageModel& model, std::span<std::byte> to) const noexcept {
  if (!model.state_ || !model.state_->finished) {
    return refuse_empty(kSave, model.state_ != nullptr);
  }
  if (layers_ == 0) {
    return refuse_no_session(kSave);
  }
  QKV_RETURN_IF_ERROR(model.check_session(kSave, *this));
  if (to.size() != saved_bytes()) {
    return refuse(StatusCode::kShapeMismatch, kSave, "@to has {} bytes, expected {}", to.size(),
                  saved_bytes());
  }
  if (!to.data()) {
    return refuse(StatusCode::kInvalidArgument, kSave, "@to has no data, expected {} bytes",
                  to.size());
  }
  AlignedBuffer row;
  QKV_RETURN_IF_ERROR(row.reserve(static_cast<std::size_t>(model.config().d_k)));
  const SavedHeader h = header_of(*model.state_, *this);
  std::memcpy(to.data(), &h, sizeof h);
  std::byte* at = to.data() + sizeof h;
  each_cache(caches_, sources_, layers_,
             [&](const KvCache& cache) { at = KvCacheAccess::save(cache, at, row.data()); });
  std::memset(at, 0, static_cast<std::size_t>(to.data() + to.size() - at));
  return {};
}

Status ModelSession::restore(const LanguageModel& model, std::span<const std::byte> from,
                             Index capacity, ModelSession& session) noexcept {
  if (!model.state_ || !model.state_->finished) {
    return refuse_empty(kRestore, model.state_ != nullptr);
  }
  SavedHeader h;
  if (from.size() < sizeof h || !from.data()) {
    return refuse(StatusCode::kInvalidArgument, kRestore,
                  "@from has {} bytes, expected at least {}: it is no saved session", from.size(),
                  sizeof h);
  }
  std::memcpy(&h, from.data(), sizeof h);
  if (h.magic != kMagic) {
    return refuse(StatusCode::kInvalidArgument, kRestore,
                  "@from does not begin as a saved session does, expected bytes that save() wrote");
  }
  if (h.version != kVersion) {
    return refuse(StatusCode::kUnsupported, kRestore,
                  "the version of @from is {}, expected {}: it was saved by a later release",
                  h.version, kVersion);
  }
  QKV_RETURN_IF_ERROR(check_header(h, header_of(*model.state_, session)));
  QKV_RETURN_IF_ERROR(check_sizes(h, from.size()));
  const auto held = static_cast<Index>(h.length);
  const auto saved = static_cast<Index>(h.capacity);
  if (capacity == 0) {
    capacity = saved < model.config().max_length ? saved : model.config().max_length;
  }
  if (capacity < held) {
    return refuse(StatusCode::kOutOfRange, kRestore,
                  "@capacity is {}, expected at least {}: so many tokens are saved", capacity,
                  held);
  }
  ModelSession made;
  QKV_RETURN_IF_ERROR(create(kRestore, model,
                             {.batch = static_cast<Index>(h.batch),
                              .capacity = capacity,
                              .format = static_cast<CacheFormat>(h.format),
                              .source_capacity = static_cast<Index>(h.source_capacity)},
                             made));
  AlignedBuffer rows;
  QKV_RETURN_IF_ERROR(rows.reserve(capped_product(kRows, h.width)));
  QKV_RETURN_IF_ERROR(made.make_room(made.caches_, held));
  if (made.sources_) {
    QKV_RETURN_IF_ERROR(made.make_room(made.sources_, static_cast<Index>(h.source_length)));
  }
  const std::byte* at = from.data() + sizeof h;
  const KvCache* const sources = made.sources_;
  each_cache(made.caches_, made.sources_, made.layers_, [&](KvCache& cache) {
    const bool is_source = sources && &cache >= sources;
    at = KvCacheAccess::restore(cache, is_source ? static_cast<Index>(h.source_length) : held, at,
                                rows.data());
  });
  session = std::move(made);
  return {};
}

}  // namespace qkv
