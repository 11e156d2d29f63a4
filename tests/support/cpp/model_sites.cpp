#include "model_sites.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <memory>

#include "bounds.hpp"

namespace qkv::test {
namespace {

bool has(const ModelRange& range, Index i) {
  return i >= range.begin && (range.end < 0 || i < range.end);
}

bool of_keys(ModelSite site) { return site == ModelSite::kScores || site == ModelSite::kWeights; }

/// x scale, then value, then + add: of rows of one head of batch row b.
void apply(const ModelEdit& edit, Index b, Index head, oracle::Rows& rows) {
  const auto number = [&](const TensorView<const float>& view, std::size_t t, std::size_t c,
                          Index from) {
    const Index bb = b - edit.batch.begin;
    const Index r = static_cast<Index>(t) - edit.rows.begin;
    const Index i = static_cast<Index>(c) - from;
    return static_cast<double>(view.rank == 4 ? *view.at(bb, edit.head >= 0 ? 0 : head, r, i)
                                              : *view.at(bb, r, i));
  };
  const ModelRange& last = of_keys(edit.site) ? edit.keys : edit.columns;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    for (std::size_t c = 0; c < rows[t].size(); ++c) {
      if (!has(edit.rows, static_cast<Index>(t)) || !has(last, static_cast<Index>(c))) {
        continue;
      }
      double& x = rows[t][c];
      x *= edit.scale ? static_cast<double>(*edit.scale) : 1.0;
      x = edit.value.absent() ? x : number(edit.value, t, c, last.begin);
      x += edit.add.absent() ? 0.0 : number(edit.add, t, c, last.begin);
    }
  }
}

/// What happens at the sites of batch row b: edits, and a record of all.
std::function<void(ModelSite, Index, Index, oracle::Rows&)> visitor(
    const std::vector<ModelEdit>& edits, Index b, SiteOracle::Arrays& arrays) {
  auto excluded = std::make_shared<std::map<std::pair<Index, Index>, oracle::Rows>>();
  return
      [&edits, b, &arrays, excluded](ModelSite site, Index layer, Index head, oracle::Rows& rows) {
        const std::pair<Index, Index> at = {layer, head};
        if (site == ModelSite::kScores) {
          (*excluded)[at] = rows;
        }
        for (const ModelEdit& edit : edits) {
          if (edit.site == site && edit.layer == layer && has(edit.batch, b) &&
              (edit.head < 0 || edit.head == head)) {
            apply(edit, b, head, rows);
          }
        }
        for (std::size_t t = 0; of_keys(site) && t < rows.size(); ++t) {
          for (std::size_t j = 0; j < rows[t].size(); ++j) {
            if ((*excluded)[at][t][j] == -INFINITY) {
              rows[t][j] = site == ModelSite::kScores ? -INFINITY : 0.0;
            }
          }
        }
        arrays[{site, layer}][head] = rows;
      };
}

}  // namespace

std::vector<SitePlace> places_of(const LanguageModelConfig& c, Index first) {
  using enum ModelSite;
  std::vector<SitePlace> places = {{kFinal, 0}};
  if (first == 0) {
    places.push_back({kEmbed, 0});
  }
  for (Index n = first; n < c.num_layers; ++n) {
    for (const ModelSite site : {kQ, kK, kV, kScores, kWeights, kZ, kHeads, kAttention, kResidual,
                                 kEntropy, kNormWeights}) {
      places.push_back({site, n});
    }
    const bool feeds = c.d_feed_forward > 0;
    if (feeds && !c.parallel_residual) {
      places.push_back({kMiddle, n});
    }
    if (feeds) {
      places.push_back({kFeedForward, n});
    }
    if (feeds && c.num_experts == 0) {
      places.push_back({kNeurons, n});
    }
    if (c.encoder_layers > 0) {
      places.push_back({kCross, n});
    }
    if (c.head) {
      places.push_back({kLogits, n});
    }
  }
  return places;
}

SomeEdit::SomeEdit(const LanguageModel& model, const ModelTokens& tokens, SitePlace place,
                   std::uint64_t seed) {
  Random random(seed);
  const auto [site, layer] = place;
  edit.site = site;
  edit.layer = layer;
  const LanguageModel::ForwardArgs args{.ids = {tokens.ids.data(), {tokens.batch, tokens.length}}};
  TensorView<float> shape = model.reading_view(args, {.site = site, .layer = layer}, nullptr);
  const auto range = [&](int axis) {
    Index& extent = shape.shape[to_size(axis)];
    if (random.below(2) == 0) {
      return ModelRange{};
    }
    const Index begin = static_cast<Index>(random.below(extent));
    const Index end = begin + 1 + static_cast<Index>(random.below(extent - begin));
    extent = end - begin;
    return ModelRange{begin, end};
  };
  edit.batch = range(0);
  if (shape.rank == 4 && random.below(3) > 0) {
    edit.head = static_cast<Index>(random.below(shape.shape[1]));
    shape.shape[1] = 1;
  }
  edit.rows = range(shape.rank - 2);
  (of_keys(site) ? edit.keys : edit.columns) = range(shape.rank - 1);
  const Index last = shape.extent(shape.rank - 1);
  const auto numbers = [&](std::vector<float>& values) {
    TensorView<const float> view = shape;
    const auto kind = random.below(3);  // all of them, a row, a number
    view.strides = {};
    Index stride = 1;
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
      if (kind == 0 || (kind == 1 && axis == shape.rank - 1)) {
        view.strides[to_size(axis)] = stride;
        stride *= shape.extent(axis);
      }
    }
    values = random_floats(random, kind == 0 ? shape.size() : kind == 1 ? last : 1);
    if (site == ModelSite::kScores && kind == 1) {
      values[0] = -INFINITY;
    }
    view.data = values.data();
    return view;
  };
  const auto what = random.below(4);
  if (what == 0 || what == 3) {
    edit.scale = random.uniform(2.0F);
  }
  if (what == 1) {
    edit.value = numbers(value);
  }
  if (what == 2 || what == 3) {
    edit.add = numbers(add);
  }
}

SiteArrays::SiteArrays(const LanguageModel& model, const LanguageModel::ForwardArgs& args,
                       const std::vector<SitePlace>& of, ModelRange rows)
    : places(of), arrays(of.size()) {
  for (std::size_t i = 0; i < of.size(); ++i) {
    ModelReading reading{
        .site = of[i].first, .layer = of[i].second, .row_begin = rows.begin, .row_end = rows.end};
    reading.to = model.reading_view(args, reading, nullptr);
    arrays[i].assign(to_size(reading.to.size()), kUntouched);
    reading.to.data = arrays[i].data();
    readings.push_back(reading);
  }
}

std::vector<float> SiteArrays::all() const {
  std::vector<float> joined;
  for (const std::vector<float>& each : arrays) {
    joined.insert(joined.end(), each.begin(), each.end());
  }
  return joined;
}

SiteOracle::SiteOracle(const oracle::Model& model, const ModelTokens& tokens,
                       const std::vector<ModelEdit>& edits, const oracle::Pass& given,
                       const Rounding& rounding)

    : length_(tokens.length),
      meaningful_(!rounding.int8_activations),
      exact_(to_size(tokens.batch)),
      draws_(exact_.size()) {
  Random random(99);
  oracle::Model moved = model;
  moved.noise = noise_of(rounding, random);
  for (Index b = 0; b < tokens.batch; ++b) {
    oracle::Pass pass = given;
    pass.length = tokens.lengths.empty() ? -1 : tokens.lengths[to_size(b)];
    if (!tokens.types.empty()) {
      pass.types = {tokens.types.begin() + b * tokens.length,
                    tokens.types.begin() + (b + 1) * tokens.length};
    }
    pass.visit = visitor(edits, b, exact_[to_size(b)]);
    traces.push_back(model.trace(tokens.row(b), pass));
    for (int draw = 0; draw < (tokens.length > 99 ? 1 : 3); ++draw) {
      Arrays& arrays = draws_[to_size(b)].emplace_back();
      pass.visit = visitor(edits, b, arrays);
      static_cast<void>(moved.trace(tokens.row(b), pass));
      for (const auto& [place, heads] : exact_[to_size(b)]) {
        for (const auto& [head, rows] : heads) {
          for (std::size_t t = 0; t < rows.size(); ++t) {
            for (std::size_t i = 0; i < rows[t].size(); ++i) {
              const double distance = std::abs(rows[t][i] - arrays[place][head][t][i]);
              if (std::isfinite(distance)) {
                moved_[place] = std::max(moved_[place], distance);
              }
            }
          }
        }
      }
    }
  }
}

void SiteOracle::compare(const std::string& name, const SiteArrays& found, ModelRange rows) const {
  const Index end = rows.end < 0 ? length_ : rows.end;
  for (std::size_t i = 0; i < found.places.size(); ++i) {
    const SitePlace& place = found.places[i];
    CAPTURE(static_cast<int>(place.first), place.second);
    // No map comes before it, of which the bound is made.
    const bool embedded = place.first == ModelSite::kEmbed;
    Quantity quantity(name + (embedded ? " embedding" : ""));
    std::size_t at = 0;
    for (const Arrays& arrays : exact_) {
      for (const auto& [head, exact] : arrays.at(place)) {
        for (Index t = rows.begin; t < end; ++t) {
          for (const double x : exact[to_size(t)]) {
            REQUIRE(at < found.arrays[i].size());
            const auto number = static_cast<double>(found.arrays[i][at++]);
            if (std::isinf(x)) {
              CHECK(number == x);
            } else {
              const double sums = embedded ? 0x1p-20 * std::max(1.0, std::abs(x)) : 0.0;
              quantity.add(number, x, 3 * moved_.at(place) + 4 * bounds::kU + sums,
                           meaningful_ ? 1.0 : 0.0);
            }
          }
        }
      }
    }
    CHECK(at == found.arrays[i].size());
    require_within(quantity);
  }
}

}  // namespace qkv::test
