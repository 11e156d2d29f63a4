// A model that reads a source and writes a target, as arrays that are trained and as steps on a tape.
#pragma once

#include "base/message.hpp"
#include "qkv/train/seq2seq.hpp"
#include "train/tape/tape.hpp"
#include "train/trainers/blocks.hpp"
#include "train/trainers/learner.hpp"

namespace qkv::train {

/// Why there is no such model, if there is none.
Status check_config(const Caller& caller, const Seq2SeqConfig& c) noexcept;

/// One layer of a GRU on either side.
struct GruNumbers {
  Index wx = -1, wh = -1, bx = -1, bh = -1;
};

struct SideArrays {
  List<GruNumbers> gru;
  List<LayerIds> layers;
  NormIds norm;
};

/// The arrays of a model by their numbers.
struct TranslatorArrays {
  Index embedding = -1, head = -1;
  SideArrays encoder, decoder;
  Index wq = -1, wk = -1, v = -1, ws = -1, wc = -1, b = -1;  ///< of kGruAttention
};

/// Declares the arrays of a model, in the order of Seq2SeqTrainer.
Status declare_arrays(const Seq2SeqConfig& c, Learner& learner, TranslatorArrays& arrays) noexcept;

/// Where things are on the tape.
struct TranslatorSteps {
  ArrayId source_positions = kNoArray, positions = kNoArray;  ///< constants of a transformer
  ArrayId source = kNoArray;  ///< the embeddings of the source, before positions
  ArrayId last = kNoArray;    ///< the encoder's last state: [B, d_model]
  ArrayId logits = kNoArray;
  List<ArrayId>
      contexts;  ///< what the decoder found in the source: one of kGruAttention, one of each block
};

/// How many rows and tokens a tape is recorded for.
struct Extent {
  Index batch = 0, sources = 0, tokens = 0;
  bool operator==(const Extent&) const = default;
};

/// Records the model. What is constant is not filled yet.
Status record_model(const Seq2SeqConfig& config, const Learner& learner,
                    const TranslatorArrays& arrays, const Extent& extent, Tape& tape,
                    TranslatorSteps& steps) noexcept;

}  // namespace qkv::train
