// Blocks of transformers, as arrays that are trained and as steps on a tape. A LayerConfig says what is in them.
#pragma once

#include "models/for_each_array.hpp"
#include "models/model_state.hpp"
#include "train/tape/tape.hpp"
#include "train/trainers/learner.hpp"

namespace qkv::train {

/// Numbers of the arrays of a learner; -1 for those that there are not. Where `frozen` is given, the array is one of a model and is
/// not trained.
struct NormIds {
  Index gamma = -1, beta = -1;
  const ModelNorm* frozen = nullptr;
  Index width = 0;  ///< of a frozen one
};
struct MatrixIds {
  Index w = -1, b = -1;
  const PackedLinear* frozen = nullptr;
  Index down = -1,
        up = -1;  ///< the two matrices of an adapter of a frozen map: x W + factor (x down) up
};

/// The embedding, and the bias of a head that it is.
struct TableIds {
  Index table = -1, head_bias = -1;
};

/// What all adapters of a model have in common.
struct AdapterNumbers {
  float factor = 1.0F;
  float dropout = 0.0F;
};
using AttentionIds = AttentionArrays<MatrixIds, NormIds>;
using LayerIds = LayerArrays<MatrixIds, NormIds>;

/// Where things are on the tape.
struct LayerSteps {
  ArrayId attended = kNoArray;   ///< what self-attention wrote
  ArrayId crossed = kNoArray;    ///< what cross-attention wrote
  ArrayId attention = kNoArray;  ///< what the attention sub-layer adds
  ArrayId middle = kNoArray;     ///< the stream after attention
  ArrayId neurons = kNoArray;    ///< what the last map of the feed-forward sub-layer reads
  ArrayId fed = kNoArray;        ///< what the feed-forward sub-layer adds
  ArrayId residual = kNoArray;   ///< the stream after the layer
};

/// Declares the arrays that for_each_array() visits with a learner, in that order.
class Declarer {
 public:
  explicit Declarer(Learner& learner) noexcept : learner_(learner) {}

  Status visit(const MatrixSpec& spec, MatrixIds& ids) noexcept;
  Status visit(const NormSpec& spec, NormIds& ids) noexcept;
  Status visit(const TableSpec& spec, Index& id) noexcept;
  Status visit_embedding(const TableSpec& spec, TableIds& ids) noexcept {
    return visit(spec, ids.table);
  }
  Status visit_head_bias(const char* name, Index width, TableIds& ids) noexcept;
  template <class Model>
  static Status make_layers(Index count, Model& model) noexcept {
    for (Index n = 0; n < count; ++n) {
      QKV_RETURN_IF_ERROR(model.layers.push({}));
    }
    return {};
  }

 private:
  Learner& learner_;
};

/// Records the blocks of a model on a tape.
class BlockRecorder {
 public:
  BlockRecorder(float dropout, Tape& tape, const AdapterNumbers& adapters = {}) noexcept
      : dropout_(dropout), tape_(tape), adapters_(adapters) {}

  ArrayId normalize(ArrayId x, const NormIds& norm, const NormConfig& config) noexcept;
  ArrayId drop(ArrayId x) noexcept;
  /// One block over x. `context` is what cross-attention reads, in blocks that have it; `cross` says how.
  ArrayId layer(ArrayId x, const LayerIds& ids, const TapeAttention& attention, ArrayId context,
                const TapeAttention& cross, LayerSteps& at) noexcept;
  /// attend() at a place of dropout of its own.
  ArrayId attend(ArrayId q, ArrayId k, ArrayId v, const TapeAttention& attention) noexcept {
    return train::attend(tape_, q, k, v, attention, site_++);
  }

  /// x W + b, with its adapter if there is one.
  ArrayId map(ArrayId x, const MatrixIds& ids) noexcept;

 private:
  class Block;

  float dropout_;
  Tape& tape_;
  AdapterNumbers adapters_;
  std::uint64_t site_ = 0;  ///< places of dropout so far
};

/// The arrays of a learner, as parameters of a tape: array i gets number i.
void take_parameters(const Learner& learner, Tape& tape) noexcept;

}  // namespace qkv::train
