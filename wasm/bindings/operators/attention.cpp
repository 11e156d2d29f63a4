// attention() and its cache.
#include "attention_fields.hpp"
#include "support.hpp"

namespace qkv::wasm {

Status attention(const AttentionFields& given) noexcept {
  return qkv::attention({.q = given.q.heads(given.num_heads),
                         .k = given.k.heads(given.num_kv_heads),
                         .v = given.v.heads(given.num_kv_heads),
                         .out = given.out.heads(given.num_heads),
                         .options = attention_options(given.options),
                         .extras = attention_extras(given.extras),
                         .cache = given.cache},
                        scratch());
}

Status createCache(const CreateCacheFields& given) noexcept {
  return make<KvCache>([&](KvCache& cache) noexcept {
    return KvCache::create({.batch = given.batch,
                            .num_kv_heads = given.num_kv_heads,
                            .capacity = given.capacity,
                            .d_k = given.d_k,
                            .d_v = given.d_v,
                            .format = given.format},
                           cache);
  });
}

Status appendCache(const AppendCacheFields& given) noexcept {
  return given.cache->append(given.keys.heads(given.num_kv_heads),
                             given.values.heads(given.num_kv_heads));
}

Status truncateCache(const TruncateCacheFields& given) noexcept {
  return given.cache->truncate(given.length);
}

Status readKeys(const ReadKeysFields& given) noexcept { return given.cache->read_keys(given.keys); }

Status readValues(const ReadValuesFields& given) noexcept {
  return given.cache->read_values(given.values);
}

Status destroyCache(const DestroyCacheFields& given) noexcept {
  return destroy<KvCache>(given.object);
}

}  // namespace qkv::wasm
