// What a LanguageModel holds.
#pragma once

#include <cstdint>
#include <new>
#include <span>

#include "base/float_count.hpp"
#include "base/list.hpp"
#include "kernels/kernel_table.hpp"
#include "models/for_each_array.hpp"
#include "models/kept_lists.hpp"
#include "qkv/language_model.hpp"
#include "qkv/linear.hpp"

namespace qkv {

/// Objects one after another in a block of the core's own, made all at once and never moved.
template <class T>
class Objects {
  static_assert(alignof(T) <= kAlignment);

 public:
  Objects() noexcept = default;
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;
  ~Objects() {
    for (T& object : *this) {
      object.~T();
    }
  }

  /// Makes `count` objects; only once. kOutOfMemory leaves none.
  Status create(Index count) noexcept {
    QKV_RETURN_IF_ERROR(
        block_.reserve(capped_product(count, (sizeof(T) + sizeof(float) - 1) / sizeof(float))));
    for (; size_ < count; ++size_) {
      new (begin() + size_) T;
    }
    return {};
  }
  [[nodiscard]] Index size() const noexcept { return size_; }
  [[nodiscard]] T* begin() const noexcept { return reinterpret_cast<T*>(block_.data()); }
  [[nodiscard]] T* end() const noexcept { return begin() + size_; }
  [[nodiscard]] T& operator[](Index i) const noexcept { return begin()[i]; }

 private:
  AlignedBuffer block_;
  Index size_ = 0;
};

/// The arrays of a norm; those that the config has not stay empty.
struct ModelNorm {
  AlignedBuffer gamma, beta;
};

using ModelExpert = ExpertArrays<PackedLinear>;
using ModelLayer = LayerArrays<PackedLinear, ModelNorm, Objects<ModelExpert>>;

/// One array of weights, and how much of it there is.
struct ModelEntry {
  char name[kMostArrayName];
  /// Where the numbers go: a packed matrix, or float32.
  PackedLinear* map;
  float* numbers;
  int rank;
  Index shape[2];
  /// Rows of the layout that were given so far; `layout` is that of the first.
  Index rows;
  WeightLayout layout;
  /// The packed matrix is a table of embeddings: its rows are the outputs of the map.
  bool is_table;

  /// Rows that there are, by a layout, and the numbers in each.
  [[nodiscard]] Index all_rows(WeightLayout by) const noexcept {
    return rank == 1 ? 1 : shape[map && !is_table && by == WeightLayout::kOutIn ? 1 : 0];
  }
  [[nodiscard]] Index row_size(WeightLayout by) const noexcept {
    return rank == 1 ? shape[0] : shape[map && !is_table && by == WeightLayout::kOutIn ? 0 : 1];
  }
  [[nodiscard]] bool full() const noexcept { return rows == all_rows(layout); }
};

/// A model, or the encoder of one.
struct ModelState {
  LanguageModelConfig config;
  WeightFormat format = WeightFormat::kF32;  ///< requested at create(); each matrix has its own
  std::span<const WeightFormat> formats;  ///< of each array, while memory is taken; empty: `format`
  bool quantized_rows = false;            ///< whether some matrix reads quantised rows
  const kernels::KernelTable* kernels = nullptr;
  ModelState* encoder = nullptr;        ///< of a model that has one
  const ModelState* decoder = nullptr;  ///< of an encoder: whose embedding it reads
  PackedLinear embedding, head;  ///< the embedding as [d_model, vocabulary]: as the head it may be
  PackedLinear head_transform;
  AlignedBuffer positions, token_types;
  AlignedBuffer slopes;  ///< of ALiBi
  AlignedBuffer relative_bias;
  AlignedBuffer distance_bias;  ///< [num_heads, distances()], made of relative_bias
  KeptLists lists;              ///< of the config
  ModelNorm embedding_norm, norm, head_norm;
  Objects<ModelLayer> layers;
  List<ModelEntry> entries;
  std::int64_t parameter_count = 0;
  std::size_t bytes = 0;
  bool finished = false;

  /// Takes the memory of all arrays and lists them.
  Status reserve() noexcept;
  /// Takes the memory of distance_bias.
  Status reserve_bias() noexcept;
  /// Distances j - i that the scores may have: from 1 - max_length to 0, or to max_length - 1 without causality.
  [[nodiscard]] Index distances() const noexcept {
    return config.causal ? config.max_length : 2 * config.max_length - 1;
  }
  /// Fills distance_bias.
  void spread_bias() noexcept;
  /// The embedding of tokens.
  [[nodiscard]] const PackedLinear& tokens() const noexcept {
    return decoder ? decoder->embedding : embedding;
  }
  [[nodiscard]] const PackedLinear& last_map() const noexcept {
    return config.tied_embeddings ? embedding : head;
  }
};

/// For those who read the arrays of a model where they are.
struct ModelAccess {
  /// What a model holds, for as long as there is one: where it is does not change when the model is moved. Null if it is empty.
  [[nodiscard]] static const ModelState* state_of(const LanguageModel& model) noexcept {
    return model.state_;
  }
};

}  // namespace qkv
