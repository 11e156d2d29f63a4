// The object behind a trainer of the package: of one kind or the other, which do the same with their arrays.
#pragma once

#include <cstdint>

#include "qkv/train/language_model.hpp"
#include "qkv/train/seq2seq.hpp"

namespace qkv::wasm {

struct Trainer {
  train::LanguageModelTrainer language_model;
  train::Seq2SeqTrainer seq2seq;
  bool translates = false;

  /// What `work` answers for the trainer that it is.
  template <class Work>
  auto with(Work work) noexcept {
    return translates ? work(seq2seq) : work(language_model);
  }
};

/// The arrays of a trained array.
enum class TrainerPart : std::uint8_t { kValue, kGradient, kFirst, kSecond };

}  // namespace qkv::wasm
