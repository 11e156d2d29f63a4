#include "qkv/kv_cache.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "check.hpp"
#include "isa_dispatch.hpp"
#include "kv_cache_access.hpp"

namespace qkv {
namespace {

constexpr const char* kCreate = "KvCache::create";

/// Makes room for `heads` blocks of `floats`, zeroed so that no padding is ever undefined.
Status reserve_zeroed(AlignedBuffer& buffer, Index heads, Index floats) noexcept {
  const double count = static_cast<double>(heads) * static_cast<double>(floats);
  constexpr std::size_t kLargest = std::numeric_limits<std::size_t>::max() / 8;
  constexpr auto kMost = static_cast<double>(kLargest);
  QKV_RETURN_IF_ERROR(buffer.reserve(count < kMost ? static_cast<std::size_t>(count)
                                                   : std::numeric_limits<std::size_t>::max()));
  if (buffer.data()) {
    std::memset(buffer.data(), 0, static_cast<std::size_t>(count) * sizeof(float));
  }
  return {};
}

/// Where element `column` of row `row` stands in panels of `rows` rows.
Index panel_index(Index row, Index column, Index rows, Index panel) noexcept {
  return (column / panel * rows + row) * panel + column % panel;
}

}  // namespace

KvCache& KvCache::operator=(KvCache&& other) noexcept {
  config_ = std::exchange(other.config_, {});
  length_ = std::exchange(other.length_, 0);
  keys_ = std::move(other.keys_);
  values_ = std::move(other.values_);
  kernels_ = std::exchange(other.kernels_, nullptr);
  return *this;
}

Status KvCache::create(const KvCacheConfig& config, KvCache& cache) noexcept {
  KvCache built;
  QKV_RETURN_IF_ERROR(require_kernels(kCreate, built.kernels_));
  built.config_ = config;
  KvCacheConfig& c = built.config_;
  c.d_v = c.d_v == 0 ? c.d_k : c.d_v;
  QKV_RETURN_IF_ERROR(check_size(kCreate, "batch", c.batch));
  QKV_RETURN_IF_ERROR(check_size(kCreate, "num_kv_heads", c.num_kv_heads));
  QKV_RETURN_IF_ERROR(check_size(kCreate, "capacity", c.capacity, 0));
  QKV_RETURN_IF_ERROR(check_size(kCreate, "d_k", c.d_k));
  QKV_RETURN_IF_ERROR(check_size(kCreate, "d_v", c.d_v));
  const double width = static_cast<double>(c.d_k > c.d_v ? c.d_k : c.d_v);
  const double floats = (static_cast<double>(c.capacity) + 64.0) * (width + 64.0);
  constexpr Index kLargest = std::numeric_limits<Index>::max() / 8;
  if (floats > static_cast<double>(kLargest)) {
    return out_of_memory("out of memory: a cache of {} tokens cannot be addressed", c.capacity);
  }
  if (static_cast<double>(c.batch) * static_cast<double>(c.num_kv_heads) >
      static_cast<double>(kLargest)) {
    return out_of_memory("out of memory: a cache of {} rows with {} heads cannot be addressed",
                         c.batch, c.num_kv_heads);
  }
  const Index heads = c.batch * c.num_kv_heads;
  QKV_RETURN_IF_ERROR(reserve_zeroed(built.keys_, heads, KvCacheAccess::key_stride(built)));
  QKV_RETURN_IF_ERROR(reserve_zeroed(built.values_, heads, KvCacheAccess::value_stride(built)));
  cache = std::move(built);
  return {};
}

/// One sentence about the cache for a call whose own arrays fit each other.
Status KvCache::check_fits(const Caller& caller, const TensorView<const float>& keys,
                           const TensorView<const float>& values) const noexcept {
  const KvCacheConfig& c = config_;
  const auto [batch, heads] = std::pair(keys.extent(0), keys.extent(1));
  if (!kernels_ || (c.batch == batch && c.num_kv_heads == heads && c.d_k == keys.extent(3) &&
                    c.d_v == values.extent(3))) {
    return {};
  }
  return refuse(StatusCode::kShapeMismatch, caller,
                "the cache holds keys {} and values {}, expected {} and {}",
                Extents({c.batch, c.num_kv_heads, kAny, c.d_k}),
                Extents({c.batch, c.num_kv_heads, kAny, c.d_v}),
                Extents({batch, heads, kAny, keys.extent(3)}),
                Extents({batch, heads, kAny, values.extent(3)}));
}

Status KvCache::check_append(const Caller& caller, const TensorView<const float>& keys,
                             const TensorView<const float>& values) const noexcept {
  const kernels::KernelTable* active = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(caller, active));
  if (!kernels_) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "the cache is empty, expected one made by create()");
  }
  QKV_RETURN_IF_ERROR(check_same_kernels(caller, "the cache", kernels_, active));
  const KvCacheConfig& c = config_;
  QKV_RETURN_IF_ERROR(check_array(caller, "keys", keys, {c.batch, c.num_kv_heads, kAny, c.d_k}));
  QKV_RETURN_IF_ERROR(
      check_array(caller, "values", values, {c.batch, c.num_kv_heads, keys.extent(2), c.d_v}));
  if (keys.extent(2) > c.capacity - length_) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "the cache holds {} of {} tokens and {} are to be added, expected at most {}",
                  length_, c.capacity, keys.extent(2), c.capacity - length_);
  }
  return {};
}

Status KvCache::append(TensorView<const float> keys, TensorView<const float> values) noexcept {
  QKV_RETURN_IF_ERROR(check_append("KvCache::append", keys, values));
  const KvCacheConfig& c = config_;
  const Index panel = kernels_->panel;
  const Index added = keys.extent(2);
  // A cache without room may have any number of heads.
  for (Index head = 0; added > 0 && head < c.batch * c.num_kv_heads; ++head) {
    const Index b = head / c.num_kv_heads;
    const Index h = head % c.num_kv_heads;
    float* k_panels = keys_.data() + head * KvCacheAccess::key_stride(*this);
    float* v_panels = values_.data() + head * KvCacheAccess::value_stride(*this);
    for (Index t = 0; t < added; ++t) {
      const float* k = keys.at(b, h, t);
      const float* v = values.at(b, h, t);
      const Index at = length_ + t;
      for (Index d = 0; d < c.d_k; ++d) {
        k_panels[panel_index(d, at, c.d_k, panel)] = k[d];
      }
      for (Index d = 0; d < c.d_v; ++d) {
        v_panels[panel_index(at, d, c.capacity, panel)] = v[d];
      }
    }
  }
  length_ += added;
  return {};
}

Status KvCache::truncate(Index length) noexcept {
  if (length < 0 || length > length_) {
    return refuse(StatusCode::kOutOfRange, "KvCache::truncate", "@length is {}, expected 0 to {}",
                  length, length_);
  }
  length_ = length;
  return {};
}

Status KvCache::read_keys(TensorView<float> keys) const noexcept {
  const KvCacheConfig& c = config_;
  QKV_RETURN_IF_ERROR(
      check_output("KvCache::read_keys", "keys", keys, {c.batch, c.num_kv_heads, length_, c.d_k}));
  for (Index head = 0; length_ > 0 && head < c.batch * c.num_kv_heads; ++head) {
    const float* panels = keys_.data() + head * KvCacheAccess::key_stride(*this);
    for (Index t = 0; t < length_; ++t) {
      float* k = keys.at(head / c.num_kv_heads, head % c.num_kv_heads, t);
      for (Index d = 0; d < c.d_k; ++d) {
        k[d] = panels[panel_index(d, t, c.d_k, kernels_->panel)];
      }
    }
  }
  return {};
}

Status KvCache::read_values(TensorView<float> values) const noexcept {
  const KvCacheConfig& c = config_;
  QKV_RETURN_IF_ERROR(check_output("KvCache::read_values", "values", values,
                                   {c.batch, c.num_kv_heads, length_, c.d_v}));
  for (Index head = 0; length_ > 0 && head < c.batch * c.num_kv_heads; ++head) {
    const float* panels = values_.data() + head * KvCacheAccess::value_stride(*this);
    for (Index t = 0; t < length_; ++t) {
      float* v = values.at(head / c.num_kv_heads, head % c.num_kv_heads, t);
      for (Index d = 0; d < c.d_v; ++d) {
        v[d] = panels[panel_index(t, d, c.capacity, kernels_->panel)];
      }
    }
  }
  return {};
}

}  // namespace qkv
