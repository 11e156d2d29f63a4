// Trainers that begin with a model: of all its weights, or of adapters of a model that stays as it is.
#include <algorithm>
#include <cmath>
#include <new>

#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "models/call_check.hpp"
#include "models/model_state.hpp"
#include "train/trainers/language_model_state.hpp"
#include "weights/weight_rows.hpp"

namespace qkv::train {
namespace {

constexpr const char* kAdapt = "LanguageModelTrainer::adapt";
constexpr const char* kCreateFrom = "LanguageModelTrainer::create_from";

constexpr AdaptedMap kDefaultMaps[] = {AdaptedMap::kWq, AdaptedMap::kWv};

/// The maps of a layer in the order of AdaptedMap.
template <class Layer>
auto* map_of(Layer& layer, AdaptedMap map) noexcept {
  decltype(&layer.w1) const maps[] = {&layer.attention.wq,
                                      &layer.attention.wk,
                                      &layer.attention.wv,
                                      &layer.attention.wo,
                                      &layer.w1,
                                      &layer.w_gate,
                                      &layer.w2};
  return maps[static_cast<std::size_t>(map)];
}

constexpr struct {
  const char* name;
  const char* prefix;
  const char* down;
  const char* up;
} kMaps[] = {{"kWq", "attention.", "wq.loraA", "wq.loraB"},
             {"kWk", "attention.", "wk.loraA", "wk.loraB"},
             {"kWv", "attention.", "wv.loraA", "wv.loraB"},
             {"kWo", "attention.", "wo.loraA", "wo.loraB"},
             {"kW1", "feedForward.", "w1.loraA", "w1.loraB"},
             {"kWGate", "feedForward.", "wGate.loraA", "wGate.loraB"},
             {"kW2", "feedForward.", "w2.loraA", "w2.loraB"}};
constexpr int kMapCount = sizeof kMaps / sizeof kMaps[0];

std::span<const AdaptedMap> maps_of(const AdapterConfig& adapters) noexcept {
  return adapters.maps.empty() ? std::span<const AdaptedMap>(kDefaultMaps) : adapters.maps;
}

Status check_adapters(const AdapterConfig& adapters, const LanguageModelConfig& c) noexcept {
  if (adapters.rank < 1) {
    return refuse(StatusCode::kOutOfRange, kAdapt, "@rank is {}, expected at least 1",
                  adapters.rank);
  }
  if (!std::isfinite(adapters.alpha) || adapters.alpha <= 0.0F) {
    return refuse(StatusCode::kOutOfRange, kAdapt, "@alpha is {}, expected a finite number above 0",
                  adapters.alpha);
  }
  if (!(adapters.dropout >= 0.0F && adapters.dropout < 1.0F)) {
    return refuse(StatusCode::kOutOfRange, kAdapt, "@dropout is {}, expected [0, 1)",
                  adapters.dropout);
  }
  const std::span<const AdaptedMap> maps = maps_of(adapters);
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const auto number = static_cast<Index>(maps[i]);
    const Argument name{"maps", static_cast<Index>(i)};
    if (number >= kMapCount) {
      return refuse(StatusCode::kInvalidArgument, kAdapt, "{} is {}, expected 0 to {}", name,
                    number, Index{kMapCount - 1});
    }
    const bool lacks = (maps[i] >= AdaptedMap::kW1 && c.d_feed_forward == 0) ||
                       (maps[i] == AdaptedMap::kWGate && !is_gated(c.activation));
    if (lacks) {
      return refuse(StatusCode::kUnsupported, kAdapt, "{} is {}, expected a map that the model has",
                    name, Verbatim{kMaps[number].name});
    }
    if (std::find(maps.begin(), maps.begin() + static_cast<std::ptrdiff_t>(i), maps[i]) !=
        maps.begin() + static_cast<std::ptrdiff_t>(i)) {
      return refuse(StatusCode::kInvalidArgument, kAdapt,
                    "{} is {}, which is there before, expected each once", name,
                    Verbatim{kMaps[number].name});
    }
  }
  return {};
}

/// The arrays of a layer of the model, and the adapters that a learner declares.
class Freezer {
 public:
  Freezer(const ModelState& base, const AdapterConfig& adapters, Learner& learner) noexcept
      : base_(base), adapters_(adapters), learner_(learner) {}

  Status freeze(ModelArrays& arrays) noexcept {
    arrays.base = &base_;
    arrays.adapters = {.factor = adapters_.alpha / static_cast<float>(adapters_.rank),
                       .dropout = adapters_.dropout};
    const Index d = base_.config.d_model;
    arrays.embedding_norm = frozen(base_.embedding_norm, d);
    arrays.norm = frozen(base_.norm, d);
    arrays.head_norm = frozen(base_.head_norm, d);
    arrays.head_transform.frozen = &base_.head_transform;
    for (Index n = 0; n < base_.config.num_layers; ++n) {
      QKV_RETURN_IF_ERROR(arrays.layers.push(layer(n)));
    }
    return {};
  }

 private:
  static NormIds frozen(const ModelNorm& norm, Index width) noexcept {
    return {.frozen = &norm, .width = width};
  }

  LayerIds layer(Index n) noexcept {
    const ModelLayer& from = base_.layers[n];
    const LayerAttention& a = from.config.attention;
    const Index d = base_.config.d_model;
    LayerIds ids;
    ids.config = from.config;
    ids.attention.q_norm = frozen(from.attention.q_norm, a.norm_width(a.num_heads));
    ids.attention.k_norm = frozen(from.attention.k_norm, a.norm_width(a.num_kv_heads));
    ids.norm1 = frozen(from.norm1, d);
    ids.post_norm1 = frozen(from.post_norm1, d);
    ids.norm2 = frozen(from.norm2, d);
    ids.post_norm2 = frozen(from.post_norm2, d);
    for (int i = 0; i < kMapCount; ++i) {
      const auto map = static_cast<AdaptedMap>(i);
      MatrixIds& own = *map_of(ids, map);
      own.frozen = map_of(from, map);
      const std::span<const AdaptedMap> maps = maps_of(adapters_);
      if (std::find(maps.begin(), maps.end(), map) != maps.end()) {
        const ArrayPlace place{"layers", n, kMaps[i].prefix};
        own.down = learner_.declare(place, kMaps[i].down, own.frozen->in, adapters_.rank,
                                    ArrayRole::kMatrix);
        own.up = learner_.declare(place, kMaps[i].up, adapters_.rank, own.frozen->out,
                                  ArrayRole::kDelta);
      }
    }
    return ids;
  }

  const ModelState& base_;
  const AdapterConfig& adapters_;
  Learner& learner_;
};

/// The state of a model that is filled; null if it is not.
const ModelState* filled(const LanguageModel& model) noexcept {
  const ModelState* state = ModelAccess::state_of(model);
  return state && state->finished ? state : nullptr;
}

Status refuse_model(const char* caller, const LanguageModel& model) noexcept {
  return qkv::refuse_empty(caller, ModelAccess::state_of(model) != nullptr);
}

/// The numbers of an array of a model as float32, matrices as [in, out].
void copy_entry(const kernels::KernelTable& table, const ModelEntry& entry, float* row,
                TensorView<float> to) noexcept {
  if (!entry.map) {
    std::copy_n(entry.numbers, to.size(), to.data);
    return;
  }
  for (Index j = 0; j < entry.map->out; ++j) {
    read_column(table, *entry.map, j, row);
    for (Index i = 0; i < entry.map->in; ++i) {
      to.data[entry.is_table ? j * entry.map->in + i : i * entry.map->out + j] = row[i];
    }
  }
}

/// The adapter of a map; null if it has none.
const MatrixIds* adapter_of(const ModelArrays& arrays, const PackedLinear* map) noexcept {
  for (const LayerIds& layer : arrays.layers) {
    for (int i = 0; i < kMapCount; ++i) {
      const MatrixIds* own = map_of(layer, static_cast<AdaptedMap>(i));
      if (own->frozen == map && own->down >= 0) {
        return own;
      }
    }
  }
  return nullptr;
}

/// to[in, out] += factor A B.
void add_adapter(const Learner& learner, const MatrixIds& ids, float factor,
                 TensorView<float> to) noexcept {
  const Index rank = learner.array(ids.down).width;
  const Index out = to.extent(1);
  const float* a = learner.value(ids.down);
  const float* b = learner.value(ids.up);
  for (Index i = 0; i < to.extent(0); ++i) {
    for (Index j = 0; j < out; ++j) {
      double sum = 0.0;
      for (Index r = 0; r < rank; ++r) {
        sum += static_cast<double>(a[i * rank + r]) * static_cast<double>(b[r * out + j]);
      }
      float& w = to.data[i * out + j];
      w = static_cast<float>(static_cast<double>(w) + static_cast<double>(factor) * sum);
    }
  }
}

}  // namespace

Status LanguageModelTrainer::adapt(const LanguageModel& base, const AdapterConfig& adapters,
                                   const TrainerOptions& options,
                                   LanguageModelTrainer& trainer) noexcept {
  const ModelState* model = filled(base);
  if (!model) {
    return refuse_model(kAdapt, base);
  }
  LanguageModelConfig config = model->config;
  QKV_RETURN_IF_ERROR(check_config(kAdapt, config));
  QKV_RETURN_IF_ERROR(check_adapters(adapters, config));
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kAdapt, kernels));
  LanguageModelTrainer made;
  QKV_RETURN_IF_ERROR(made.make_state());
  State& state = *made.state_;
  state.config = config;
  QKV_RETURN_IF_ERROR(check_same_kernels(kAdapt, "the model", model->kernels, kernels.forward));
  Freezer freezer(*model, adapters, state.learner);
  QKV_RETURN_IF_ERROR(freezer.freeze(state.arrays));
  QKV_RETURN_IF_ERROR(state.learner.create(kAdapt, options, config.num_layers));
  trainer = static_cast<LanguageModelTrainer&&>(made);
  return {};
}

Status LanguageModelTrainer::create_from(const LanguageModel& base, const TrainerOptions& options,
                                         LanguageModelTrainer& trainer) noexcept {
  const ModelState* model = filled(base);
  if (!model) {
    return refuse_model(kCreateFrom, base);
  }
  LanguageModelTrainer made;
  QKV_RETURN_IF_ERROR(create_as(kCreateFrom, model->config, options, made));
  Index most = 0;
  for (const ModelEntry& entry : model->entries) {
    most = std::max(most, entry.map ? entry.map->in : 0);
  }
  AlignedBuffer row;
  QKV_RETURN_IF_ERROR(row.reserve(static_cast<std::size_t>(most)));
  // Both list their arrays through for_each_array().
  for (Index i = 0; i < made.array_count(); ++i) {
    copy_entry(*model->kernels, model->entries[i], row.data(), made.array(i).value);
  }
  trainer = static_cast<LanguageModelTrainer&&>(made);
  return {};
}

Status LanguageModelTrainer::read_merged(Index i, TensorView<float> to) const noexcept {
  constexpr const char* kName = "LanguageModelTrainer::read_merged";
  const ModelState* base = state_ ? state_->arrays.base : nullptr;
  if (!base) {
    return refuse(StatusCode::kInvalidArgument, kName,
                  "the trainer has no adapters, expected one that adapt() made");
  }
  if (i < 0 || i >= base->entries.size()) {
    return refuse(StatusCode::kOutOfRange, kName, "@i is {}, expected [0, {})", i,
                  base->entries.size());
  }
  const ModelEntry& entry = base->entries[i];
  QKV_RETURN_IF_ERROR(entry.rank == 1
                          ? check_dense(kName, "to", to, {entry.shape[0]})
                          : check_dense(kName, "to", to, {entry.shape[0], entry.shape[1]}));
  AlignedBuffer row;
  QKV_RETURN_IF_ERROR(row.reserve(static_cast<std::size_t>(entry.map ? entry.map->in : 0)));
  copy_entry(*base->kernels, entry, row.data(), to);
  if (const MatrixIds* adapter = entry.map ? adapter_of(state_->arrays, entry.map) : nullptr) {
    add_adapter(state_->learner, *adapter, state_->arrays.adapters.factor, to);
  }
  return {};
}

}  // namespace qkv::train
