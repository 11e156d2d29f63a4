#include "refusal.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "compare.hpp"
#include "problem.hpp"

namespace qkv::test {
namespace {

constexpr const char* kOverlaps = " overlaps ";

/// "[2,*,6]", written apart from what it tests.
std::string text(const Index* extents, int rank) {
  if (rank < 0 || rank > 4) {
    return "of rank " + std::to_string(rank);
  }
  std::string all;
  for (int axis = 0; axis < rank; ++axis) {
    all += axis > 0 ? "," : "";
    all += extents[axis] == kAny ? "*" : std::to_string(extents[axis]);
  }
  return "[" + all + "]";
}

std::string expected_text(const Array& array) {
  return (array.demands.broadcasts ? "expected a shape that broadcasts to " : "expected ") +
         text(array.expected.data(), static_cast<int>(array.expected.size()));
}

std::string shape_text(const ViewRef& view) { return text(view.shape.data(), view.rank); }

struct Shape4 {
  int rank = 0;
  std::array<Index, 4> extents{};
  auto operator<=>(const Shape4&) const = default;
};

/// One wrong way for one array.
struct WrongArray {
  std::function<void(ViewRef&)> spoil;
  StatusCode code;
  std::string message;
};

bool fits(const Array& array, const Shape4& shape) {
  const auto rank = static_cast<int>(array.expected.size());
  const bool broadcasts = array.demands.broadcasts;
  if (broadcasts ? shape.rank < 0 || shape.rank > rank : shape.rank != rank) {
    return false;
  }
  for (int axis = 0; axis < shape.rank; ++axis) {
    const Index extent = shape.extents[static_cast<std::size_t>(axis)];
    const Index asked = array.expected[static_cast<std::size_t>(rank - shape.rank + axis)];
    if (!(extent == asked || (broadcasts ? extent == 1 : asked == kAny && extent >= 0))) {
      return false;
    }
  }
  return true;
}

/// Other ranks, one axis more, the axes in reverse, two axes as one, and other extents of each axis.
void add_variants(const Shape4& of, std::set<Shape4>& shapes) {
  const auto rank = static_cast<std::size_t>(of.rank);
  for (int other : {-1, 1, 2, 3, 4, 5, 7, 1000}) {
    shapes.insert({other, of.extents});
  }
  if (rank < 4) {
    Shape4 longer{of.rank + 1, of.extents};
    longer.extents[rank] = 1;
    shapes.insert(longer);
    std::rotate(longer.extents.begin(), longer.extents.begin() + of.rank,
                longer.extents.begin() + of.rank + 1);
    shapes.insert(longer);
  }
  Shape4 reversed = of;
  std::reverse(reversed.extents.begin(), reversed.extents.begin() + of.rank);
  shapes.insert(reversed);
  if (rank > 1) {
    Shape4 merged{of.rank - 1, of.extents};
    merged.extents[rank - 2] *= of.extents[rank - 1];
    shapes.insert(merged);
  }
  for (std::size_t axis = 0; axis < rank; ++axis) {
    Shape4 other = of;
    const Index extent = of.extents[axis];
    for (other.extents[axis] = -extent; other.extents[axis] <= 2 * extent; ++other.extents[axis]) {
      shapes.insert(other);
    }
    other.extents[axis] = std::numeric_limits<Index>::max();
    shapes.insert(other);
  }
}

std::set<Shape4> wrong_shapes(const Array& array) {
  std::set<Shape4> shapes;
  add_variants({array.view.rank, array.view.shape}, shapes);
  const std::vector<Index>& target = array.expected;
  for (std::size_t rank = 1; array.demands.broadcasts && rank <= target.size(); ++rank) {
    Shape4 tail{static_cast<int>(rank), {}};
    std::copy(target.end() - static_cast<std::ptrdiff_t>(rank), target.end(), tail.extents.begin());
    add_variants(tail, shapes);
    for (std::size_t axis = 0; axis < rank; ++axis) {  // alone among ones
      Shape4 ones{static_cast<int>(rank), {1, 1, 1, 1}};
      ones.extents[axis] = tail.extents[axis];
      add_variants(ones, shapes);
    }
  }
  std::erase_if(shapes, [&](const Shape4& shape) { return fits(array, shape); });
  return shapes;
}

void add_wrong_shapes(const Array& array, std::vector<WrongArray>& all) {
  const std::string name = array.name;
  if (array.demands.any_rank) {
    for (const int rank : {0, 5}) {
      all.push_back({[rank](ViewRef& view) { view.rank = rank; }, kShapeError,
                     name + " has rank " + std::to_string(rank) + ", expected 1 to 4"});
    }
    return;
  }
  for (const Shape4& shape : wrong_shapes(array)) {
    all.push_back(
        {[shape](ViewRef& view) {
           view.rank = shape.rank;
           view.shape = shape.extents;
         },
         kShapeError,
         name + " is " + text(shape.extents.data(), shape.rank) + ", " + expected_text(array)});
  }
  const auto remove = [](ViewRef& view) {
    view.point_to(nullptr);
    view.rank = 0;
  };
  if (array.demands.missing) {
    all.push_back({remove, kInvalid, name + " is missing, " + expected_text(array)});
  } else if (!array.demands.optional && !array.demands.broadcasts) {
    all.push_back({remove, kShapeError, name + " is [], " + expected_text(array)});
  }
}

void add_null(const Array& array, std::vector<WrongArray>& all) {
  all.push_back(
      {[](ViewRef& view) { view.point_to(nullptr); }, kInvalid,
       std::string(array.name) + " has no data, expected " + shape_text(array.view) + " elements"});
}

WrongArray wrong_stride(std::size_t axis, Index stride, const std::string& message) {
  return {[axis, stride](ViewRef& view) { view.strides[axis] = stride; }, kInvalid, message};
}

void add_wrong_strides(const Array& array, std::vector<WrongArray>& all) {
  const ViewRef& view = array.view;
  if (array.demands.any_strides) {
    return;
  }
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(view.rank); ++axis) {
    const bool last = axis + 1 == static_cast<std::size_t>(view.rank);
    const Index stride = view.strides[axis];
    const std::string name = last && !array.demands.broadcasts
                                 ? "the last axis of "
                                 : "axis " + std::to_string(axis) + " of ";
    const auto add = [&](Index wrong, const std::string& expected) {
      all.push_back(wrong_stride(
          axis, wrong,
          name + array.name + " has stride " + std::to_string(wrong) + ", expected " + expected));
    };
    if (view.shape[axis] == 1) {
      continue;  // never used
    }
    if (last && !array.demands.broadcasts) {
      for (Index wrong : {-1, 0, 2, 3, 4}) {
        add(wrong, "1");
      }
      continue;
    }
    for (Index wrong : {Index{-1}, Index{-3}, Index{-4}, Index{-12}, -stride}) {
      add(wrong, "at least 0");
    }
    for (Index wrong : {Index{0}, stride - 1, stride + 1, stride + 7, 2 * stride}) {
      if (array.demands.dense) {
        add(wrong, std::to_string(stride) + " (contiguous)");
      }
    }
  }
}

void add_overlaps(const Array& array, std::vector<WrongArray>& all) {
  const ViewRef& view = array.view;
  for (std::size_t axis = 0; axis + 1 < static_cast<std::size_t>(view.rank); ++axis) {
    for (Index stride : {Index{0}, Index{1}, view.strides[axis] - 1}) {
      std::array<Index, 4> strides = view.strides;
      strides[axis] = stride;
      if (view.shape[axis] > 1 && stride < view.strides[axis]) {
        all.push_back(wrong_stride(
            axis, stride,
            std::string(array.name) + " has strides " + text(strides.data(), view.rank) + " for " +
                shape_text(view) + ", expected strides with which no two elements overlap"));
      }
    }
  }
}

/// Each way that `add` finds to spoil one of arrays() must be refused.
void require_each_refused(const Make& make, void (*add)(const Array&, std::vector<WrongArray>&)) {
  require_accepted(make);
  const std::unique_ptr<Call> call = make();
  const std::vector<Array> arrays = call->arrays();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::vector<WrongArray> all;
    if (arrays[i].view.rank > 0) {
      add(arrays[i], all);
    }
    for (const WrongArray& wrong : all) {
      require_refused(
          make, {arrays[i].name, [&](Call& spoiled) { wrong.spoil(spoiled.arrays()[i].view); },
                 wrong.code, wrong.message});
    }
  }
}

/// Where `out` may be put to share memory with `other`, in bytes from the start of that.
std::vector<std::pair<const char*, std::ptrdiff_t>> shared_places(const Array& out,
                                                                  const Array& other) {
  const auto size = [](const Array& a) { return static_cast<std::ptrdiff_t>(a.view.bytes()); };
  const auto element = static_cast<std::ptrdiff_t>(out.view.element);
  std::vector<std::pair<const char*, std::ptrdiff_t>> places{
      {" on the start of ", 0},
      {" on the end of ", (size(other) - 1) / element * element},
      {" across the start of ", element - size(out)}};
  const char* in_place = out.demands.in_place;
  std::erase_if(places, [&](const auto& place) {
    return place.second == 0 && in_place && std::strcmp(in_place, other.name) == 0;
  });
  return places;
}

/// The length of a cache and what it holds.
std::vector<float> contents(const KvCache& cache) {
  const KvCacheConfig& c = cache.config();
  const Index length = cache.length();
  const Index rows = c.batch * c.num_kv_heads * length;
  std::vector<float> all(static_cast<std::size_t>(1 + rows * (c.d_k + c.d_v)));
  all[0] = static_cast<float>(length);
  if (length > 0) {
    float* values = all.data() + 1 + rows * c.d_k;
    require_ok(cache.read_keys({all.data() + 1, {c.batch, c.num_kv_heads, length, c.d_k}}));
    require_ok(cache.read_values({values, {c.batch, c.num_kv_heads, length, c.d_v}}));
  }
  return all;
}

}  // namespace

void require_refused(const Status& status, const char* function, const Refusal& refusal) {
  using Catch::Matchers::ContainsSubstring;
  using Catch::Matchers::StartsWith;
  const std::string message = status.message();
  CHECK(std::string(status_code_name(status.code())) == status_code_name(refusal.code));
  CHECK_THAT(message, StartsWith(std::string(function) + ": "));
  CHECK_THAT(message, ContainsSubstring(refusal.argument));
  CHECK_THAT(message, ContainsSubstring(refusal.was));
  CHECK_THAT(message, ContainsSubstring(refusal.expected));
  CHECK(message.size() < Status::kMaxMessage - 1);  // nothing was cut
}

std::size_t ViewRef::bytes() const {
  std::size_t count = element;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
    count *= static_cast<std::size_t>(shape[axis]);
  }
  return rank == 0 ? 0 : count;
}

std::vector<float> Call::seen() {
  std::vector<float> all = memory_;
  const std::vector<float> tokens = contents(held);
  all.insert(all.end(), tokens.begin(), tokens.end());
  return all;
}

void Call::gather() {
  const std::vector<Array> all = arrays();
  std::size_t most = 64;
  for (const Array& array : all) {
    most = std::max(most, (array.view.bytes() + 63) / 64 * 64);
  }
  memory_.assign((all.size() + 1) * 2 * most / sizeof(float), kUntouched);
  std::byte* to = reinterpret_cast<std::byte*>(memory_.data()) + most;
  for (const Array& array : all) {
    if (array.view.rank > 0) {
      std::memcpy(to, array.view.data(), array.view.bytes());
      array.view.point_to(to);
    }
    to += 2 * most;
  }
}

void require_accepted(const Make& make) {
  const std::unique_ptr<Call> call = make();
  const std::vector<float> unwritten = call->seen();
  const Status status = call->run();
  CHECK(std::string(status.message()) == "");
  CHECK(first_difference(call->seen(), unwritten) != "");
}

void require_refused(const Make& make, const Wrong& wrong) {
  const std::unique_ptr<Call> call = make();
  const bool named = wrong.code != StatusCode::kOutOfMemory;  // which is whose ever memory it was
  const std::string message = (named ? call->function + std::string(": ") : "") + wrong.message;
  INFO(call->function << ", " << wrong.what << ", expects " << status_code_name(wrong.code)
                      << ", \"" << message << '"');
  wrong.spoil(*call);
  const std::vector<float> seen = call->seen();
  const std::size_t memory = call->memory();
  const Status status = call->run();
  const bool same_memory = call->memory() == memory;
  CHECK(std::string(status_code_name(status.code())) == status_code_name(wrong.code));
  CHECK(std::string(status.message()) == message);
  CHECK(first_difference(seen, call->seen()) == "");
  if (!call->scratch_first || wrong.message.find(kOverlaps) == std::string::npos) {
    CHECK(same_memory);
    CHECK(call->scratch_bytes() == 0);
  }
}

void require_shapes_checked(const Make& make) { require_each_refused(make, add_wrong_shapes); }

void require_data_checked(const Make& make) { require_each_refused(make, add_null); }

void require_strides_checked(const Make& make) { require_each_refused(make, add_wrong_strides); }

void require_overlaps_refused(const Make& make) {
  require_each_refused(make, [](const Array& array, std::vector<WrongArray>& all) {
    if (array.demands.written && !array.demands.dense) {
      add_overlaps(array, all);
    }
  });
}

void require_arrays_checked(const Make& make) {
  require_shapes_checked(make);
  require_data_checked(make);
  require_strides_checked(make);
  require_overlaps_refused(make);
}

void require_sharing_refused(const Make& make) {
  const std::unique_ptr<Call> call = make();
  const std::vector<Array> arrays = call->arrays();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    for (std::size_t j = 0; j < arrays.size(); ++j) {
      const Array& out = arrays[i];
      const Array& other = arrays[j];
      if (!out.demands.written || out.view.rank == 0 || other.view.rank == 0 ||
          (other.demands.written && j >= i)) {
        continue;
      }
      for (const auto& [where, offset] : shared_places(out, other)) {
        require_refused(
            make, {std::string(out.name) + where + other.name,
                   [&, at = offset](Call& spoiled) {
                     const std::vector<Array> views = spoiled.arrays();
                     views[i].view.point_to(views[j].view.data() + at);
                   },
                   kInvalid,
                   std::string(out.name) + kOverlaps + other.name + ", expected separate memory"});
      }
    }
  }
}

}  // namespace qkv::test
