/// @file
/// The keys and values of a conversation with a language model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "qkv/kv_cache.hpp"
#include "qkv/model_sites.hpp"
#include "qkv/status.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

class LanguageModel;
class ModelPass;

/// The sizes of a conversation.
struct ModelSessionConfig {
  Index batch = 1;                         ///< rows of tokens side by side, at least 1
  Index capacity = 0;                      ///< most tokens of a row; 0 means the model's max_length
  CacheFormat format = CacheFormat::kF32;  ///< of keys and values
  Index source_capacity =
      0;  ///< of a model with an encoder: most tokens of a source; 0 means max_length
};

/// The keys and values of a conversation: one cache for each layer, all of the same length; with an encoder one more for each, of the
/// source that LanguageModel::encode() has read. Memory grows with the tokens that
/// are held, as KvCache says: forward() takes it for all layers before anything is computed.
class ModelSession {
 public:
  /// An empty session, which holds no tokens and has room for none: forward() refuses it, and truncate() anything but 0.
  ModelSession() noexcept = default;
  ~ModelSession();
  /// Move-only; the two change places.
  ModelSession(ModelSession&& other) noexcept { *this = std::move(other); }
  /// Likewise.
  ModelSession& operator=(ModelSession&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(config_, other.config_);
    std::swap(caches_, other.caches_);
    std::swap(sources_, other.sources_);
    std::swap(layers_, other.layers_);
    return *this;
  }

  /// Makes the caches, with room for the first 64 tokens, for the active instruction set, which should be the model's: forward() refuses any other.
  /// Errors: kInvalidArgument (an empty or unfinished model, an encoder, no value of CacheFormat), kOutOfRange (batch, a capacity
  /// or source_capacity above the model's max_length, a source_capacity without an encoder), kOutOfMemory, kUnsupported. On error
  /// `session` is as it was.
  static Status create(const LanguageModel& model, const ModelSessionConfig& config,
                       ModelSession& session) noexcept;

  /// Makes `copy` a session of its own with the same tokens, source and config, for another continuation. Its memory is that of
  /// the tokens that are held, rounded up to 64. Errors: kInvalidArgument (an empty session), kOutOfMemory; `copy` is then as it
  /// was.
  Status fork(ModelSession& copy) const noexcept;

  /// Forgets all tokens from `length` on, and nothing of the source. kOutOfRange unless 0 <= length <= length().
  Status truncate(Index length) noexcept;
  /// Forgets tokens [begin, end) of every row: those after them move down by n = end - begin positions, as if they had stood there from
  /// the beginning ("context shift"). What the layers computed of them stays: the stream of a token that moved is that of a row which
  /// had the forgotten tokens. Only its keys change, in layers that rotate them: pair i is turned back by n w_i, with w_i
  /// as RotaryScaling says for the layer's own rotation. The source stays.
  ///
  /// Error bound, beside keys that forward() makes at the new position of the same stream, with r the length of a pair of such a key,
  /// a the attention factor of the rotation and u = 2^-24: with kF32 10 u r. The keys that were held are within 3.1 u r of exact
  /// ones, turning them adds 3.1 u r (1 + 4 u), and those of forward() are as far from exact ones on the other side. With
  /// kBf16 and kInt8 the key was rounded when it came and is rounded once more: 2^-7 r (1 + 2^-7), and sqrt(2) / 252 of the largest number of
  /// the group of 32 of either number of the pair and as much of the groups of the result. With QkNorm::kRotated a number y_j of a pair
  /// is within 14 u r_j, where r_j is gamma_j times the length of the pair without gains (rounded formats: times gamma_j / gamma_i of the other number
  /// i). Each removal adds as much again. Values and all other numbers of keys, in kInt8 those of groups without a rotated number, keep their
  /// bits. Threads change no bit.
  ///
  /// Everything is checked, and all memory taken, before anything moves. Errors: kInvalidArgument (an empty session, one of another
  /// model, an empty or unfinished model), kOutOfRange unless 0 <= begin <= end <= length() (an end below 0 is length()), kOutOfMemory, kUnsupported (positions that are
  /// added to the stream, kLearned and kSinusoidal, which nothing turns back; QkNorm::kRotated with a layer norm or a gain of 0;
  /// other kernels than those of create()). Where end is length() nothing moves and truncate() is what happens.
  Status remove(const LanguageModel& model, const ModelRange& tokens,
                Workspace& workspace) noexcept;

  /// Bytes that save() writes, a multiple of 4; 0 for an empty session.
  [[nodiscard]] std::uint64_t saved_bytes() const noexcept;
  /// Writes all that is held, for restore(): 12 numbers of 64 bits, little-endian (the letters "qkvsess" and a zero, version 1, format,
  /// batch, capacity, length, source_capacity, source_length, layers, heads of keys and values, d_k, a hash of the model's config); then of each layer, batch row and
  /// head the keys of all tokens, then their values; then likewise those of the source; then zeros up to a multiple of 4 bytes. A row is
  /// d_k numbers in the session's format: float32, bfloat16, or of each 32 numbers a bfloat16 scale and bytes. It does not depend on the
  /// instruction set. Weights are not in it.
  /// Errors: kInvalidArgument (an empty session, one of another model, null data), kShapeMismatch (`to` has not saved_bytes()),
  /// kOutOfMemory (of one row).
  Status save(const LanguageModel& model, std::span<std::byte> to) const noexcept;
  /// Makes a session of what save() wrote, with the same numbers, bit for bit, and room for `capacity` tokens; 0 means as many as the saved
  /// one, or the model's max_length if that is less. Every number of the header is checked against the model; that the weights are those of then cannot be seen.
  /// Errors: kInvalidArgument (bytes that are no saved session, or one of a model of other sizes or another config; an empty or unfinished model, an encoder), kShapeMismatch (more or fewer
  /// bytes than its sizes say), kOutOfRange (a capacity below its length or above max_length), kOutOfMemory, kUnsupported (a later version). On error `session` is as it was.
  static Status restore(const LanguageModel& model, std::span<const std::byte> from, Index capacity,
                        ModelSession& session) noexcept;

  /// Tokens of a row of the source that encode() has read; 0 before.
  [[nodiscard]] Index source_length() const noexcept { return sources_ ? sources_[0].length() : 0; }
  /// Tokens of a row that are held.
  [[nodiscard]] Index length() const noexcept { return layers_ > 0 ? caches_[0].length() : 0; }
  /// As given to create(), with the capacity filled in.
  [[nodiscard]] const ModelSessionConfig& config() const noexcept { return config_; }
  /// Bytes that are taken for keys and values now.
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Bytes of keys and values of `capacity` tokens, and of `source_capacity`: the most that it will take.
  [[nodiscard]] std::uint64_t max_bytes() const noexcept;

 private:
  friend class LanguageModel;
  friend class ModelPass;
  static Status create(const char* caller, const LanguageModel& model,
                       const ModelSessionConfig& config, ModelSession& session) noexcept;
  Status make_caches(Index layers, bool has_source) noexcept;
  Status make_room(KvCache* caches, Index tokens) noexcept;
  void forget(Index length) noexcept;

  AlignedBuffer memory_;  ///< where the caches are
  ModelSessionConfig config_;
  KvCache* caches_ = nullptr;
  KvCache* sources_ = nullptr;  ///< of the source; null without an encoder
  Index layers_ = 0;
};

}  // namespace qkv
