// The kernels themselves, without embind or JavaScript, for benchmarks of what they are made of:
// the roof, products with weights of every format, attention, and operators of elements. A module of plain exports for each variant.
#include <emscripten/emscripten.h>

#include <cstdint>
#include <cstdlib>

#include "isa/isa_dispatch.hpp"
#include "packed_product.hpp"
#include "peak.hpp"
#include "qkv/qkv.hpp"

namespace {

using qkv::Status;
using qkv::TensorView;

using qkv::kernels::Madd;

struct Isa {
  using Arch = xsimd::wasm;
  static constexpr Madd kMadd = QKV_BENCH_MADD;
};

/// Of all calls; it has the memory that they take beside their arguments.
qkv::Workspace& workspace() {
  static qkv::Workspace shared;
  return shared;
}

enum class Elementwise : std::uint8_t { kSoftmax, kGelu, kLayerNorm, kRmsNorm, kRotary };

Status elementwise(Elementwise op, TensorView<const float> x, TensorView<float> y) {
  switch (op) {
    case Elementwise::kSoftmax:
      return qkv::softmax(x, y, {});
    case Elementwise::kGelu:
      return qkv::activate(x, y, qkv::Activation::kGelu);
    case Elementwise::kLayerNorm:
      return qkv::layer_norm(x, y, {});
    case Elementwise::kRmsNorm:
      return qkv::rms_norm(x, y, {});
    case Elementwise::kRotary:
      return qkv::rotary_embedding(x, y, {}, workspace());
  }
  return Status();
}

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE float* bench_take(int floats) {
  const auto lines = (static_cast<std::size_t>(floats) + 15) / 16;
  return static_cast<float*>(std::aligned_alloc(64, lines * 64));
}

EMSCRIPTEN_KEEPALIVE void bench_give(float* taken) { std::free(taken); }

/// Floating-point operations of bench_peak(1).
EMSCRIPTEN_KEEPALIVE int bench_peak_flops() {
  return 2 * qkv::bench::kChains * static_cast<int>(qkv::kernels::kWidth<Isa>);
}

EMSCRIPTEN_KEEPALIVE float bench_peak(int steps) { return qkv::bench::peak_madd<Isa>(steps); }

/// w[k, n] in a format, by its number in WeightFormat, and room for m rows; null without memory.
EMSCRIPTEN_KEEPALIVE qkv::bench::PackedProduct* bench_product(int format, int m, int n, int k,
                                                              const float* w) {
  auto* product = new qkv::bench::PackedProduct;
  const qkv::LinearSize size{.in = k, .out = n, .format = static_cast<qkv::WeightFormat>(format)};
  return product->prepare(m, size, w) ? product : nullptr;
}

/// y[m, n] = x[m, k] w.
EMSCRIPTEN_KEEPALIVE void bench_multiply(const qkv::bench::PackedProduct* product, int m,
                                         const float* x, float* y) {
  product->run(m, x, y);
}

/// Attention of queries [heads, rows, width] on keys and values [heads, keys, width]; causal, so that the last query sees all
/// keys. False on an error.
EMSCRIPTEN_KEEPALIVE bool bench_attention(int heads, int rows, int keys, int width, const float* q,
                                          const float* k, const float* v, float* out) {
  const auto view = [&](auto* data, int tokens) {
    return TensorView(data, {1, heads, tokens, width});
  };
  qkv::AttentionArgs args{.q = view(q, rows),
                          .k = view(k, keys),
                          .v = view(v, keys),
                          .out = view(out, rows),
                          .options = {},
                          .extras = {}};
  args.options.causal = true;
  args.options.causal_offset = keys - rows;
  return qkv::attention(args, workspace()).ok();
}

/// An operator of the elements of [rows, width] by its number in Elementwise. False on an error.
EMSCRIPTEN_KEEPALIVE bool bench_elementwise(int op, int rows, int width, const float* x, float* y) {
  const auto view = [&](auto* data) { return TensorView(data, {1, 1, rows, width}); };
  return elementwise(static_cast<Elementwise>(op), view(x), view(y)).ok();
}

/// Reads that many floats.
EMSCRIPTEN_KEEPALIVE unsigned bench_read(const unsigned* at, int count) {
  return qkv::bench::read_all(at, static_cast<std::size_t>(count));
}

}  // extern "C"
