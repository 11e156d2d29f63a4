// What a call reads and changes at the sites of its pass: rows of numbers become the lists of the core.
#pragma once

#include <algorithm>
#include <memory>
#include <new>
#include <span>

#include "support.hpp"

namespace qkv::wasm {

/// A list of so many; null without memory.
template <class T>
class Made {
 public:
  explicit Made(Index count) noexcept
      : count_(static_cast<std::size_t>(count)), list_(new(std::nothrow) T[count_]) {}
  [[nodiscard]] bool made() const noexcept { return list_ != nullptr; }
  [[nodiscard]] std::span<T> list() const noexcept { return {list_.get(), count_}; }

 private:
  std::size_t count_;
  std::unique_ptr<T[]> list_;
};

/// Words of a row of readings.
inline constexpr Index kReadWords = 4;

/// Takes numbers of an array from `at` on, as many as a view has, or says that they do not fit.
template <class T>
T* take_numbers(const TensorView<T>& from, Index& at, Index count, bool& fits) noexcept {
  const Index all = from.absent() ? 0 : from.size();
  if (count < 0 || count > all - at) {
    fits = false;
    return from.data;
  }
  at += count;
  return from.data + at - count;
}

/// Readings of the rows of a table, whose arrays are one after another in `to`; `view` is the shape of one.
template <class View>
void list_readings(std::span<ModelReading> readings, const std::int32_t* word,
                   const TensorView<float>& to, bool& fits, const View& view) noexcept {
  Index at = 0;
  for (ModelReading& reading : readings) {
    reading = {.site = static_cast<ModelSite>(word[0]),
               .layer = word[1],
               .row_begin = word[2],
               .row_end = word[3]};
    reading.to = view(reading);
    reading.to.data = take_numbers(to, at, reading.to.size(), fits);
    word += kReadWords;
  }
}

/// Rows of a table.
inline Index rows_of_table(const TensorView<const std::int32_t>& table, Index words) noexcept {
  return table.absent() ? 0 : table.size() / words;
}

/// The readings, edits and lenses of a call, as schema.js describes their rows.
class Sites {
 public:
  // Not inlined, as several operators make one.
  [[gnu::noinline]] explicit Sites(const ModelSitesFields& given) noexcept
      : given_(given),
        readings_(rows_of(given.reads, kReadWords)),
        edits_(rows_of(given.edits, kEditWords)),
        lenses_(rows_of(given.lenses, kReadWords)) {}

  Sites(const Sites&) = delete;
  Sites& operator=(const Sites&) = delete;
  [[gnu::noinline]] ~Sites() = default;

  /// Fills in `args`, which has its ids and session, or refuses. The lists live as long as this.
  [[gnu::noinline]] Status fill(const LanguageModel& model,
                                LanguageModel::ForwardArgs& args) noexcept {
    if (!readings_.made() || !edits_.made() || !lenses_.made()) {
      return Status::error(StatusCode::kOutOfMemory,
                           "out of memory: the sites of a pass could not be listed");
    }
    read(model, args);
    edit(model, args);
    tell(args);
    args.readings = readings_.list();
    args.edits = edits_.list();
    args.lenses = lenses_.list();
    return fits_ ? Status{}
                 : Status::error(StatusCode::kShapeMismatch,
                                 "the arrays of sites are shorter than what is read or edited");
  }

 private:
  static constexpr Index kEditWords = 14;

  static Index rows_of(const TensorView<const std::int32_t>& table, Index words) noexcept {
    return rows_of_table(table, words);
  }

  template <class T>
  T* take(const TensorView<T>& from, Index& at, Index count) noexcept {
    return take_numbers(from, at, count, fits_);
  }

  void read(const LanguageModel& model, const LanguageModel::ForwardArgs& args) noexcept {
    const TensorView<const std::int32_t> table = given_.reads;
    list_readings(readings_.list(), table.data, given_.read, fits_,
                  [&](const ModelReading& reading) noexcept {
                    return model.reading_view(args, reading, nullptr);
                  });
  }

  void edit(const LanguageModel& model, const LanguageModel::ForwardArgs& args) noexcept {
    const TensorView<const std::int32_t> table = given_.edits;
    const TensorView<const float> numbers = given_.numbers;
    const std::int32_t* word = table.data;
    Index at = 0;
    for (ModelEdit& edit : edits_.list()) {
      const auto range = [&](int i) { return ModelRange{word[i], word[i + 1]}; };
      edit = {.site = static_cast<ModelSite>(word[0]),
              .layer = word[1],
              .head = word[2],
              .batch = range(3),
              .rows = range(5),
              .keys = range(7),
              .columns = range(9)};
      if (word[11] != 0) {
        const float* scale = take(numbers, at, 1);
        edit.scale = fits_ ? *scale : 0.0F;
      }
      const TensorView<float> chosen =
          choose(edit, model.reading_view(args, {.site = edit.site}, nullptr));
      edit.value = operand(chosen, word[12], numbers, at);
      edit.add = operand(chosen, word[13], numbers, at);
      word += kEditWords;
    }
  }

  /// The shape of what an edit chooses of its site.
  static TensorView<float> choose(const ModelEdit& edit, TensorView<float> site) noexcept {
    const auto restrict = [&](int axis, const ModelRange& to) {
      Index& extent = site.shape[static_cast<std::size_t>(axis)];
      extent = std::max<Index>(0, (to.end < 0 ? extent : to.end) - to.begin);
    };
    restrict(0, edit.batch);
    if (site.rank == 4 && edit.head >= 0) {
      site.shape[1] = 1;
    }
    restrict(site.rank - 2, edit.rows);
    restrict(site.rank - 1, has_keys(edit.site) ? edit.keys : edit.columns);
    return TensorView<float>(site);
  }

  /// One number (1), one row of the last axis (2) or all that is chosen (3).
  TensorView<const float> operand(const TensorView<float>& chosen, std::int32_t kind,
                                  const TensorView<const float>& numbers, Index& at) noexcept {
    if (kind == 0) {
      return {};
    }
    TensorView<const float> view = chosen;
    const auto last = static_cast<std::size_t>(view.rank - 1);
    Index count = 1;
    for (int axis = view.rank - 1; axis >= 0; --axis) {
      const auto i = static_cast<std::size_t>(axis);
      const bool varies = kind == 3 || (kind == 2 && i == last);
      view.strides[i] = varies ? count : 0;
      count = varies ? detail::saturated_product(count, view.shape[i]) : count;
    }
    view.data = take(numbers, at, count);
    return view;
  }

  void tell(const LanguageModel::ForwardArgs& args) noexcept {
    const TensorView<const std::int32_t> table = given_.lenses;
    const TensorView<float> guesses = given_.guesses;
    const TensorView<float> probabilities = given_.probabilities;
    const std::int32_t* word = table.data;
    Index at_ids = 0;
    Index at = 0;
    for (ModelLens& lens : lenses_.list()) {
      const Index top = word[1];
      lens = {.layer = word[0], .row_begin = word[2], .row_end = word[3]};
      const Index end = lens.row_end < 0 ? args.ids.extent(1) : lens.row_end;
      const TensorView<float> shape(
          nullptr, {args.ids.extent(0), std::max<Index>(0, end - lens.row_begin), top});
      float* ids = take(guesses, at_ids, shape.size());
      lens.ids = {reinterpret_cast<std::int32_t*>(ids), {shape.extent(0), shape.extent(1), top}};
      lens.probabilities = shape;
      lens.probabilities.data = take(probabilities, at, shape.size());
      word += kReadWords;
    }
  }

  const ModelSitesFields& given_;
  Made<ModelReading> readings_;
  Made<ModelEdit> edits_;
  Made<ModelLens> lenses_;
  bool fits_ = true;
};

}  // namespace qkv::wasm
