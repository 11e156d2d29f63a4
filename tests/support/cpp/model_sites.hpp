// Everything that a pass of a model has at its sites, read and in double precision, with edits.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "language_model_check.hpp"
#include "language_model_problem.hpp"

namespace qkv::test {

/// Where something is in a pass: a site and its layer.
using SitePlace = std::pair<ModelSite, Index>;

/// All sites of a model, of all layers from `first` on, as the header lists them.
std::vector<SitePlace> places_of(const LanguageModelConfig& config, Index first = 0);

/// An edit and the numbers that it points to. `seed` chooses them, and rows, heads and columns.
struct SomeEdit {
  SomeEdit(const LanguageModel& model, const ModelTokens& tokens, SitePlace place,
           std::uint64_t seed);
  ModelEdit edit;
  std::vector<float> value, add;
};

/// Readings of places, and the memory that they go to.
struct SiteArrays {
  SiteArrays(const LanguageModel& model, const LanguageModel::ForwardArgs& args,
             const std::vector<SitePlace>& places, ModelRange rows = {});
  SiteArrays(const SiteArrays&) = delete;
  SiteArrays& operator=(const SiteArrays&) = delete;
  std::vector<SitePlace> places;
  std::vector<std::vector<float>> arrays;
  std::vector<ModelReading> readings;
  [[nodiscard]] std::vector<float> all() const;
};

/// The same in double precision. Heads of a site follow one another, and without heads there is one, -1.
class SiteOracle {
 public:
  using Arrays = std::map<SitePlace, std::map<Index, oracle::Rows>>;
  SiteOracle(const oracle::Model& model, const ModelTokens& tokens,
             const std::vector<ModelEdit>& edits, const oracle::Pass& pass = {},
             const Rounding& rounding = {});
  /// Asserts that all readings, of tokens [rows.begin, rows.end) of the row, are within the bound of forward().
  void compare(const std::string& name, const SiteArrays& found, ModelRange rows = {}) const;
  /// Of batch row b.
  [[nodiscard]] const oracle::Rows& at(Index b, SitePlace place, Index head = -1) const {
    return exact_[to_size(b)].at(place).at(head);
  }
  std::vector<oracle::Trace> traces;  ///< of each row of the batch
  /// Of batch row b, exact, and with everything moved that rounds, several times.
  [[nodiscard]] const Arrays& exact(Index b) const { return exact_[to_size(b)]; }
  [[nodiscard]] const std::vector<Arrays>& draws(Index b) const { return draws_[to_size(b)]; }

 private:
  Index length_;
  bool meaningful_;  ///< whether bounds are to be small beside the numbers
  std::vector<Arrays> exact_;
  std::vector<std::vector<Arrays>> draws_;
  std::map<SitePlace, double> moved_;
};

}  // namespace qkv::test
