// What lives longer than a call: workspaces, buffers, caches and pools, through any sequence of calls.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "judge.hpp"
#include "qkv/threads.hpp"

namespace qkv::fuzz {
namespace {

/// Sizes that may be had, and such as never can.
std::size_t count(Input& in) {
  return in.chance(70) ? static_cast<std::size_t>(in.byte()) * in.byte()
                       : static_cast<std::size_t>(in.extreme());
}

void workspace_calls(Input& in) {
  const std::size_t before = allocated_bytes();
  {
    Workspace workspace;
    AlignedBuffer other;
    for (Index step = in.in(1, 20); step > 0; --step) {
      const std::size_t wanted = count(in);
      const std::size_t held = workspace.capacity_bytes();
      // A terabyte may be promised by a system that does not have it, and then the test ends.
      if (wanted > 1U << 20U && wanted < std::size_t{1} << 50U) {
        continue;
      }
      const Status status = workspace.begin(wanted);
      if (status.ok() != (wanted <= 1U << 20U) ||
          (!status.ok() && workspace.capacity_bytes() != held)) {
        fail("Workspace::begin: %zu floats come to \"%s\"", wanted, status.message());
      }
      for (std::size_t left = wanted; status.ok() && left > 0;) {
        const std::size_t part = std::min<std::size_t>(left, 1 + in.byte());
        if (Workspace::padded(part) > left) {
          break;
        }
        std::memset(workspace.take(part), 0xFF, part * sizeof(float));
        left -= Workspace::padded(part);
      }
      if (in.chance(20)) {
        workspace.release();
      }
      if (in.chance(30)) {
        AlignedBuffer taken(std::move(other));
        static_cast<void>(taken.reserve(in.byte()));
        other = std::move(taken);
      }
    }
  }
  if (allocated_bytes() != before) {
    fail("Workspace: keeps %zu bytes", allocated_bytes() - before);
  }
}

/// What a cache should hold, kept the plain way: for each batch row and head its tokens one after the other.
struct Model {
  KvCacheConfig c;
  Index length = 0;
  std::vector<std::vector<float>> keys, values;
};

bool same(const std::vector<float>& a, const float* b) {
  return a.empty() || std::memcmp(a.data(), b, a.size() * sizeof(float)) == 0;
}

void compare(const KvCache& cache, const Model& model) {
  const KvCacheConfig& c = model.c;
  const Index heads = c.batch * c.num_kv_heads;
  std::vector<float> keys(static_cast<std::size_t>(heads * model.length * c.d_k));
  std::vector<float> values(static_cast<std::size_t>(heads * model.length * c.d_v));
  const Status k = cache.read_keys({keys.data(), {c.batch, c.num_kv_heads, model.length, c.d_k}});
  const Status v =
      cache.read_values({values.data(), {c.batch, c.num_kv_heads, model.length, c.d_v}});
  if (!k.ok() || !v.ok() || cache.length() != model.length) {
    fail("KvCache: %s%s, length %lld, expected %lld", k.message(), v.message(),
         static_cast<long long>(cache.length()), static_cast<long long>(model.length));
  }
  for (std::size_t head = 0; head < static_cast<std::size_t>(heads); ++head) {
    if (!same(model.keys[head], keys.data() + head * model.keys[head].size()) ||
        !same(model.values[head], values.data() + head * model.values[head].size())) {
      fail("KvCache: head %zu has other tokens than were appended", head);
    }
  }
}

void append(Input& in, KvCache& cache, Model& model) {
  const KvCacheConfig& c = model.c;
  Arena arena(in);
  const Index tokens = in.in(0, 9);
  const auto keys = arena.in({c.batch, c.num_kv_heads, tokens, c.d_k});
  const auto values = arena.in({c.batch, c.num_kv_heads, tokens, c.d_v});
  const Status status = cache.append(keys, values);
  if (!status.ok()) {
    if (!arena.spoiled() && model.length + tokens <= c.capacity) {
      fail("KvCache::append: refuses %lld tokens with room for them: %s",
           static_cast<long long>(tokens), status.message());
    }
    return;
  }
  for (Index head = 0; head < c.batch * c.num_kv_heads; ++head) {
    const auto at = static_cast<std::size_t>(head);
    const Index b = head / c.num_kv_heads;
    const Index h = head % c.num_kv_heads;
    for (Index t = 0; t < keys.extent(2); ++t) {
      model.keys[at].insert(model.keys[at].end(), keys.at(b, h, t), keys.at(b, h, t) + c.d_k);
      model.values[at].insert(model.values[at].end(), values.at(b, h, t),
                              values.at(b, h, t) + c.d_v);
    }
  }
  model.length += keys.extent(2);
}

void truncate(Input& in, KvCache& cache, Model& model) {
  const Index length = in.chance(30) ? in.extreme() : in.in(0, 20);
  const bool fits = length >= 0 && length <= model.length;
  if (cache.truncate(length).ok() != fits) {
    fail("KvCache::truncate: %lld of %lld", static_cast<long long>(length),
         static_cast<long long>(model.length));
  }
  if (fits) {
    model.length = length;
    for (auto& keys : model.keys) {
      keys.resize(static_cast<std::size_t>(length * model.c.d_k));
    }
    for (auto& values : model.values) {
      values.resize(static_cast<std::size_t>(length * model.c.d_v));
    }
  }
}

/// Another cache in the place of this one, which stays where the other cannot be had.
void recreate(Input& in, KvCache& cache, Model& model) {
  const auto size = [&] { return in.chance(50) ? in.extreme() : in.in(-1, 9); };
  KvCacheConfig c{size(), size(), size(), size(), size()};
  double floats = 1.0;
  for (const Index n : {c.batch, c.num_kv_heads, c.capacity, std::max(c.d_k, c.d_v)}) {
    floats *= static_cast<double>(std::max<Index>(n, 1)) + 64.0;
  }
  const double heads = static_cast<double>(c.batch) * static_cast<double>(c.num_kv_heads);
  if ((floats < 0x1p50 && floats > 0x1p30) || (c.capacity == 0 && heads > 0x1p10)) {
    return;  // more than a test should take, and less than what a system is sure to refuse
  }
  const auto width = static_cast<double>(std::max(c.d_k, c.d_v));
  if (floats <= 0x1p30 && heads * width > 0x1p12) {
    return;  // the tokens that append() adds would be more than an arena makes
  }
  if (KvCache::create(c, cache).ok()) {
    model = Model();
    model.c = cache.config();
    model.keys.resize(static_cast<std::size_t>(model.c.batch * model.c.num_kv_heads));
    model.values.resize(model.keys.size());
  }
}

void cache_calls(Input& in) {
  Model model;
  model.c = {in.in(1, 2), in.in(1, 3), in.in(0, 40), in.in(1, 20), in.in(1, 20)};
  model.keys.resize(static_cast<std::size_t>(model.c.batch * model.c.num_kv_heads));
  model.values.resize(model.keys.size());
  KvCache cache;
  const char* isa = isa_name(static_cast<int>(in.in(0, isa_count() - 1)));
  static_cast<void>(select_isa(isa));
  if (!KvCache::create(model.c, cache).ok()) {
    fail("KvCache::create: refuses sizes that are fine");
  }
  for (Index step = in.in(1, 20); step > 0; --step) {
    switch (in.in(0, 3)) {
      case 0:
        truncate(in, cache, model);
        break;
      case 1:
        recreate(in, cache, model);
        break;
      default:
        append(in, cache, model);
        break;
    }
    compare(cache, model);
  }
}

void pool_calls(Input& in) {
  Threads threads(static_cast<unsigned>(in.in(0, 5)));
  ThreadPool& pool = threads.pool();
  for (Index step = in.in(1, 9); step > 0; --step) {
    const Index tasks = in.in(0, 200);
    const Index inner = in.chance(30) ? in.in(0, 9) : 0;
    std::vector<std::atomic<int>> done(static_cast<std::size_t>(tasks));
    std::atomic<Index> nested{0};
    pool.run(tasks, [&](Index i, int thread) noexcept {
      if (thread < 0 || thread >= pool.threads()) {
        fail("ThreadPool: a task ran on thread %d of %d", thread, pool.threads());
      }
      ++done[static_cast<std::size_t>(i)];
      pool.run(inner, [&](Index /*j*/, int /*thread*/) noexcept { ++nested; });
    });
    const auto once = [](const std::atomic<int>& times) { return times == 1; };
    if (!std::all_of(done.begin(), done.end(), once) || nested != tasks * inner) {
      fail("ThreadPool: some of %lld tasks ran twice or never", static_cast<long long>(tasks));
    }
  }
}

}  // namespace
}  // namespace qkv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace qkv::fuzz;
  Input input(data, size);
  const qkv::Index which = input.in(0, 15);
  which == 0 ? pool_calls(input) : which % 2 == 0 ? workspace_calls(input) : cache_calls(input);
  return 0;
}
