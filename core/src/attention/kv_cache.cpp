#include "qkv/kv_cache.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "attention/kv_cache_access.hpp"
#include "base/float_count.hpp"
#include "base/share.hpp"
#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"

namespace qkv {
namespace {

constexpr const char* kCacheCreate = "KvCache::create";

/// Tokens that there is room for at first, and of which room is a multiple: whole panels of every instruction set, and whole
/// blocks of values, which therefore stay as they are when a cache grows.
constexpr Index kFirstRoom = kernels::kKeyBlock;

/// Room for `heads` blocks of `floats`, undefined.
Status reserve_blocks(AlignedBuffer& buffer, Index heads, Index floats) noexcept {
  return buffer.reserve(capped_product(heads, floats));
}

}  // namespace

KvCache& KvCache::operator=(KvCache&& other) noexcept {
  config_ = std::exchange(other.config_, {});
  length_ = std::exchange(other.length_, 0);
  room_ = std::exchange(other.room_, 0);
  keys_ = std::move(other.keys_);
  values_ = std::move(other.values_);
  kernels_ = std::exchange(other.kernels_, nullptr);
  return *this;
}

Status KvCache::create(const KvCacheConfig& config, KvCache& cache) noexcept {
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kCacheCreate, table));
  KvCache built;
  QKV_RETURN_IF_ERROR(prepare(*table, config, built));
  QKV_RETURN_IF_ERROR(built.reserve(std::min(built.config_.capacity, kFirstRoom), 1));
  cache = std::move(built);
  return {};
}

/// create() for these kernels, without any room.
Status KvCache::prepare(const kernels::KernelTable& table, const KvCacheConfig& config,
                        KvCache& cache) noexcept {
  KvCache built;
  built.kernels_ = &table;
  built.config_ = config;
  KvCacheConfig& c = built.config_;
  c.d_v = c.d_v == 0 ? c.d_k : c.d_v;
  QKV_RETURN_IF_ERROR(check_size(kCacheCreate, "batch", c.batch));
  QKV_RETURN_IF_ERROR(check_size(kCacheCreate, "num_kv_heads", c.num_kv_heads));
  QKV_RETURN_IF_ERROR(check_size(kCacheCreate, "capacity", c.capacity, 0));
  QKV_RETURN_IF_ERROR(check_size(kCacheCreate, "d_k", c.d_k));
  QKV_RETURN_IF_ERROR(check_size(kCacheCreate, "d_v", c.d_v));
  if (c.format > CacheFormat::kInt8) {
    return refuse(StatusCode::kInvalidArgument, kCacheCreate,
                  "@format is {}, expected a value of CacheFormat", c.format);
  }
  const double width = static_cast<double>(c.d_k > c.d_v ? c.d_k : c.d_v);
  const double floats = (static_cast<double>(c.capacity) + 64.0) * (width + 64.0);
  constexpr Index kLargest = std::numeric_limits<Index>::max() / 8;
  if (floats > static_cast<double>(kLargest)) {
    return out_of_memory("out of memory: a cache of {} tokens is larger than the address space",
                         c.capacity);
  }
  if (static_cast<double>(c.batch) * static_cast<double>(c.num_kv_heads) >
      static_cast<double>(kLargest)) {
    return out_of_memory(
        "out of memory: a cache of {} rows with {} heads is larger than the address space", c.batch,
        c.num_kv_heads);
  }
  cache = std::move(built);
  return {};
}

std::uint64_t KvCache::max_bytes() const noexcept {
  if (!kernels_) {
    return 0;
  }
  const CacheRows rows = KvCacheAccess::rows(*this);
  const auto floats = static_cast<std::uint64_t>(rows.key_floats(config_.capacity) +
                                                 rows.value_floats(config_.capacity));
  return static_cast<std::uint64_t>(config_.batch) *
         static_cast<std::uint64_t>(config_.num_kv_heads) * floats * sizeof(float);
}

/// Room for `tokens`, at most the capacity, of which the message says what they take in so many layers. What is held and its
/// length stay, also if there is none. Of more tokens than the capacity there is room for the capacity: append() refuses them.
Status KvCache::reserve(Index tokens, Index layers) noexcept {
  const Index capacity = config_.capacity;
  if (tokens <= room_ || room_ == capacity) {
    return {};  // below the capacity, room_ is whole blocks, which move_to() counts on
  }
  const Index blocks = (tokens - 1) / kFirstRoom + 1;
  const Index least = std::min(capacity, detail::saturated_product(blocks, kFirstRoom));
  const Index ample = std::min(capacity, std::max(least, detail::saturated_product(2, room_)));
  if (move_to(ample).ok() || (ample > least && move_to(least).ok())) {
    return {};
  }
  const auto heads = static_cast<std::uint64_t>(config_.batch * config_.num_kv_heads);
  const CacheRows rows = KvCacheAccess::rows(*this);
  const auto keys = static_cast<std::uint64_t>(rows.key_floats(least));
  const auto values = static_cast<std::uint64_t>(rows.value_floats(least));
  const auto of_block =
      static_cast<std::uint64_t>(rows.key_floats(kFirstRoom) + rows.value_floats(kFirstRoom));
  const std::uint64_t of_token = heads * static_cast<std::uint64_t>(layers) * of_block *
                                 sizeof(float) / static_cast<std::uint64_t>(kFirstRoom);
  return out_of_memory(
      "out of memory: {} bytes could not be allocated: the cache holds {} tokens and needs room "
      "for {} of @capacity {}, at {} bytes each",
      heads * std::max(keys, values) * sizeof(float), length_, tokens, capacity, of_token);
}

/// Takes blocks with room for so many tokens and moves what is held there.
Status KvCache::move_to(Index room) noexcept {
  const Index heads = config_.batch * config_.num_kv_heads;
  const CacheRows rows = KvCacheAccess::rows(*this);
  const Index keys_of_head = rows.key_floats(room);
  const Index values_of_head = rows.value_floats(room);
  AlignedBuffer keys;
  AlignedBuffer values;
  QKV_RETURN_IF_ERROR(reserve_blocks(keys, heads, keys_of_head));
  QKV_RETURN_IF_ERROR(reserve_blocks(values, heads, values_of_head));
  const Index begun = (length_ + kFirstRoom - 1) / kFirstRoom * kFirstRoom;  // at most room_
  copy_blocks({keys_.data(), KvCacheAccess::key_stride(*this)}, {keys.data(), keys_of_head}, heads,
              rows.key_floats(begun));
  copy_blocks({values_.data(), KvCacheAccess::value_stride(*this)}, {values.data(), values_of_head},
              heads, rows.value_floats(begun));
  keys_ = std::move(keys);
  values_ = std::move(values);
  room_ = room;
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

Status KvCache::check_append(const Caller& caller, const kernels::KernelTable& active,
                             const TensorView<const float>& keys,
                             const TensorView<const float>& values) const noexcept {
  if (!kernels_) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "the cache is empty, expected one made by create()");
  }
  QKV_RETURN_IF_ERROR(check_same_kernels(caller, "the cache", kernels_, &active));
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
  const kernels::KernelTable* active = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels("KvCache::append", active));
  QKV_RETURN_IF_ERROR(check_append("KvCache::append", *active, keys, values));
  QKV_RETURN_IF_ERROR(reserve(length_ + keys.extent(2), 1));
  store(keys, values, nullptr);
  return {};
}

/// append() of checked arrays. Pieces end where panels end, so no two tasks write to one panel.
void KvCache::store(const TensorView<const float>& keys, const TensorView<const float>& values,
                    ThreadPool* pool) noexcept {
  constexpr Index kPiece = 512;  // whole panels of every instruction set
  const KvCacheConfig& c = config_;
  const Index added = keys.extent(2);
  if (added == 0) {
    return;  // a cache without room may have any number of heads
  }
  const Index end = length_ + added;
  const Index first = length_ / kPiece;
  const Index pieces = (end - 1) / kPiece - first + 1;
  const Index heads = c.batch * c.num_kv_heads;
  const bool shared = heads * added >= kShareElements / (c.d_k + c.d_v) + 1;
  for_each_task(shared ? pool : nullptr, heads * pieces, [&](Index task, int /*thread*/) noexcept {
    const Index head = task / pieces;
    const Index piece = first + task % pieces;
    const Index begin = std::max(length_, piece * kPiece);
    const Index tokens = std::min(end, (piece + 1) * kPiece) - begin;
    const Index b = head / c.num_kv_heads;
    const Index h = head % c.num_kv_heads;
    store_keys(head, {begin, tokens}, keys.at(b, h, begin - length_), keys.stride(2));
    store_values(head, {begin, tokens}, values.at(b, h, begin - length_), values.stride(2));
  });
  length_ = end;
}

/// Keys of one head. Of float32 whole panels by the kernel, all others one by one.
void KvCache::store_keys(Index head, Tokens tokens, const float* k, Index stride) const noexcept {
  const CacheRows rows = KvCacheAccess::rows(*this);
  const Index panel = rows.panel;
  const bool packs = rows.format == kernels::KeyFormat::kF32;
  float* panels = keys_.data() + head * KvCacheAccess::key_stride(*this);
  const Index end = tokens.first + tokens.count;
  for (Index at = tokens.first; at < end;) {
    const float* key = k + (at - tokens.first) * stride;
    const Index whole = packs && at % panel == 0 ? (end - at) / panel * panel : 0;
    if (whole > 0) {
      kernels_->pack({.b = key,
                      .row_stride = 1,
                      .column_stride = stride,
                      .k = config_.d_k,
                      .n = whole,
                      .panels = panels + at * config_.d_k});
      at += whole;
      continue;
    }
    if (at % panel == 0) {
      // The kernels read whole panels: where one is begun, the places of later keys are zeros.
      const Index floats = rows.key_floats(panel);
      std::fill_n(panels + at / panel * floats, floats, 0.0F);
    }
    rows.write_key(panels, at, key);
    ++at;
  }
}

void KvCache::store_values(Index head, Tokens tokens, const float* v, Index stride) const noexcept {
  const CacheRows rows = KvCacheAccess::rows(*this);
  float* to = values_.data() + head * KvCacheAccess::value_stride(*this);
  if (rows.format == kernels::KeyFormat::kF32) {
    pack_values(*kernels_, {v, stride, tokens.first, tokens.count}, rows.blocks(), to);
    return;
  }
  for (Index t = 0; t < tokens.count; ++t) {
    rows.write_value(to, tokens.first + t, v + t * stride);
  }
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
      KvCacheAccess::rows(*this).read_key(panels, t,
                                          keys.at(head / c.num_kv_heads, head % c.num_kv_heads, t));
    }
  }
  return {};
}

Status KvCache::read_values(TensorView<float> values) const noexcept {
  const KvCacheConfig& c = config_;
  QKV_RETURN_IF_ERROR(check_output("KvCache::read_values", "values", values,
                                   {c.batch, c.num_kv_heads, length_, c.d_v}));
  for (Index head = 0; length_ > 0 && head < c.batch * c.num_kv_heads; ++head) {
    const float* blocks = values_.data() + head * KvCacheAccess::value_stride(*this);
    for (Index t = 0; t < length_; ++t) {
      KvCacheAccess::rows(*this).read_value(
          blocks, t, values.at(head / c.num_kv_heads, head % c.num_kv_heads, t));
    }
  }
  return {};
}

}  // namespace qkv
