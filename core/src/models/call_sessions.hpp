// The sessions of a call: one for all rows, one for each, or none.
#pragma once

#include "qkv/language_model.hpp"

namespace qkv {

/// Sets of rows that have a session in common. Without sessions all rows are one set.
class CallSessions {
 public:
  explicit CallSessions(const LanguageModel::ForwardArgs& args) noexcept : args_(args) {}

  /// At least 1.
  [[nodiscard]] Index sets() const noexcept {
    return args_.sessions.empty() ? 1 : static_cast<Index>(args_.sessions.size());
  }
  [[nodiscard]] Index rows_of_set() const noexcept { return args_.ids.extent(0) / sets(); }
  [[nodiscard]] bool any() const noexcept { return (*this)[0] != nullptr; }
  [[nodiscard]] ModelSession* operator[](Index set) const noexcept {
    return args_.sessions.empty() ? args_.session : args_.sessions[static_cast<std::size_t>(set)];
  }
  /// Tokens that the session of a set holds.
  [[nodiscard]] Index length(Index set) const noexcept {
    const ModelSession* session = (*this)[set];
    return session ? session->length() : 0;
  }

 private:
  const LanguageModel::ForwardArgs& args_;
};

}  // namespace qkv
