// The raw module: pointers, sizes and status codes. Private to the npm package; wasm/src puts a
// typed API over it. A call writes its arguments as 32-bit words into a descriptor that lives here
// and passes nothing else, so a call costs one crossing however many options there are.
#include <emscripten/bind.h>

#include <array>
#include <cstdint>
#include <new>
#include <string>

#include "qkv/qkv.hpp"

// Read by the loader before anything is instantiated: a file of another version or variant is
// named, not run. `qkv <version> <instruction set>`.
__asm__(".section .custom_section.qkv,\"\",@\n.ascii \"qkv " QKV_VERSION " " QKV_MODULE_ISA "\"\n");

namespace {

using qkv::AlignedBuffer;
using qkv::Index;
using qkv::MultiHeadAttention;
using qkv::Status;
using qkv::TensorView;

using Address = std::uint32_t;

// X(type, name), in the order of the words. The names, joined by commas, are compared with those of
// wasm/src/descriptor.ts when the module is loaded.
// clang-format off
#define QKV_CALL_FIELDS(X) \
  X(Address, q) X(Address, k) X(Address, v) X(Address, out) X(std::int32_t, batch)               \
  X(std::int32_t, numHeads) X(std::int32_t, numKvHeads) X(std::int32_t, tq)                      \
  X(std::int32_t, tk) X(std::int32_t, dK) X(std::int32_t, dV) X(std::int32_t, qSplit)            \
  X(std::int32_t, kSplit) X(std::int32_t, vSplit) X(std::int32_t, hasScale)                      \
  X(float, scale) X(float, temperature) X(std::int32_t, causal)                                  \
  X(std::int32_t, hasCausalOffset) X(std::int32_t, causalOffset) X(Address, mask)                \
  X(std::int32_t, maskIsBoolean) X(std::int32_t, maskRank) X(std::int32_t, mask0)                \
  X(std::int32_t, mask1) X(std::int32_t, mask2) X(std::int32_t, mask3)                           \
  X(Address, weights) X(std::int32_t, rowBegin) X(std::int32_t, rowEnd) X(Address, lse)          \
  X(Address, entropy)

#define QKV_LAYER_FIELDS(X) \
  X(std::int32_t, dModel) X(std::int32_t, layerHeads) X(std::int32_t, layerKvHeads)              \
  X(std::int32_t, layerDK) X(std::int32_t, layerDV) X(std::int32_t, dContext)                    \
  X(std::int32_t, outIn) X(Address, wq) X(Address, wk) X(Address, wv) X(Address, wqkv)           \
  X(Address, wo) X(Address, bq) X(Address, bk) X(Address, bv) X(Address, bqkv)                   \
  X(Address, bo)
// clang-format on

#define QKV_MEMBER(type, name) type name;
#define QKV_NAME(type, name) #name ","
struct Descriptor {
  QKV_CALL_FIELDS(QKV_MEMBER)
  QKV_LAYER_FIELDS(QKV_MEMBER)
};
constexpr const char* kFieldNames = QKV_CALL_FIELDS(QKV_NAME) QKV_LAYER_FIELDS(QKV_NAME);
#undef QKV_MEMBER
#undef QKV_NAME

Descriptor descriptor;
qkv::Workspace workspace;
AlignedBuffer staging;
Status last;

/// Keeps the message for lastMessage() and passes the code on.
int report(const Status& status) {
  last = status;
  return static_cast<int>(status.code());
}

template <class T>
T* pointer(Address address) {
  return reinterpret_cast<T*>(address);
}

Address address_of(const void* p) {
  return static_cast<Address>(reinterpret_cast<std::uintptr_t>(p));
}

/// [B, H, T, d] as it stands, or [B, T, H * d] seen that way.
template <class T>
TensorView<T> heads_view(Address data, bool side_by_side, Index batch, Index heads, Index tokens,
                         Index d) {
  return side_by_side ? qkv::split_heads(pointer<T>(data), batch, tokens, heads, d)
                      : TensorView<T>(pointer<T>(data), {batch, heads, tokens, d});
}

template <class T>
TensorView<T> mask_view(const Descriptor& d) {
  const std::array<Index, 4> shape{d.mask0, d.mask1, d.mask2, d.mask3};
  switch (d.maskRank) {
    case 1:
      return {pointer<T>(d.mask), {shape[0]}};
    case 2:
      return {pointer<T>(d.mask), {shape[0], shape[1]}};
    case 3:
      return {pointer<T>(d.mask), {shape[0], shape[1], shape[2]}};
    default:
      return {pointer<T>(d.mask), {shape[0], shape[1], shape[2], shape[3]}};
  }
}

qkv::AttentionOptions read_options(const Descriptor& d) {
  qkv::AttentionOptions options;
  if (d.hasScale) {
    options.scale = d.scale;
  }
  options.temperature = d.temperature;
  options.causal = d.causal != 0;
  if (d.hasCausalOffset) {
    options.causal_offset = d.causalOffset;
  }
  if (d.maskRank > 0 && d.maskIsBoolean) {
    options.mask = mask_view<const std::uint8_t>(d);
  } else if (d.maskRank > 0) {
    options.bias = mask_view<const float>(d);
  }
  return options;
}

qkv::AttentionExtras read_extras(const Descriptor& d) {
  qkv::AttentionExtras extras;
  extras.row_begin = d.rowBegin;
  extras.row_end = d.rowEnd;
  if (d.weights) {
    const Index rows = d.rowEnd - d.rowBegin;
    extras.weights = {pointer<float>(d.weights), {d.batch, d.numHeads, rows, d.tk}};
  }
  if (d.lse) {
    extras.lse = {pointer<float>(d.lse), {d.batch, d.numHeads, d.tq}};
  }
  if (d.entropy) {
    extras.entropy = {pointer<float>(d.entropy), {d.batch, d.numHeads, d.tq}};
  }
  return extras;
}

int attention() {
  const Descriptor& d = descriptor;
  return report(qkv::attention(
      {.q = heads_view<const float>(d.q, d.qSplit, d.batch, d.numHeads, d.tq, d.dK),
       .k = heads_view<const float>(d.k, d.kSplit, d.batch, d.numKvHeads, d.tk, d.dK),
       .v = heads_view<const float>(d.v, d.vSplit, d.batch, d.numKvHeads, d.tk, d.dV),
       .out = heads_view<float>(d.out, d.qSplit, d.batch, d.numHeads, d.tq, d.dV),
       .options = read_options(d),
       .extras = read_extras(d)},
      workspace));
}

/// A weight of `in` x `out` in the descriptor's layout; absent for address 0.
TensorView<const float> weight(Address data, Index in, Index out) {
  if (!data) {
    return {};
  }
  return descriptor.outIn ? TensorView<const float>(pointer<const float>(data), {out, in})
                          : TensorView<const float>(pointer<const float>(data), {in, out});
}
TensorView<const float> bias(Address data, Index out) {
  return data ? TensorView<const float>(pointer<const float>(data), {out})
              : TensorView<const float>();
}

/// Handle of a new layer, or 0 with the reason in lastMessage(). Sizes are resolved by the caller.
Address create_layer() {
  const Descriptor& d = descriptor;
  const Index q = Index{d.layerHeads} * d.layerDK;
  const Index k = Index{d.layerKvHeads} * d.layerDK;
  const Index v = Index{d.layerKvHeads} * d.layerDV;
  const qkv::MultiHeadAttentionConfig config{
      .d_model = d.dModel,
      .num_heads = d.layerHeads,
      .num_kv_heads = d.layerKvHeads,
      .d_k = d.layerDK,
      .d_v = d.layerDV,
      .d_context = d.dContext,
      .weight_layout = d.outIn ? qkv::WeightLayout::kOutIn : qkv::WeightLayout::kInOut};
  const qkv::MultiHeadAttentionWeights weights{
      .wq = weight(d.wq, d.dModel, q),
      .wk = weight(d.wk, d.dContext, k),
      .wv = weight(d.wv, d.dContext, v),
      .wqkv = weight(d.wqkv, d.dModel, q + k + v),
      .wo = weight(d.wo, Index{d.layerHeads} * d.layerDV, d.dModel),
      .bq = bias(d.bq, q),
      .bk = bias(d.bk, k),
      .bv = bias(d.bv, v),
      .bqkv = bias(d.bqkv, q + k + v),
      .bo = bias(d.bo, d.dModel)};
  auto* layer = new (std::nothrow) MultiHeadAttention;
  if (!layer) {
    report(
        Status::error(qkv::StatusCode::kOutOfMemory, "out of memory: a layer could not be made"));
    return 0;
  }
  if (report(MultiHeadAttention::create(config, weights, *layer)) != 0) {
    delete layer;
    return 0;
  }
  return address_of(layer);
}

/// x is `q`, the context `k` (0 for self-attention), the result `out`.
int forward_layer(Address handle) {
  const Descriptor& d = descriptor;
  const auto* layer = pointer<MultiHeadAttention>(handle);
  const Index width = layer->config().d_model;
  MultiHeadAttention::ForwardArgs args{.x = {pointer<const float>(d.q), {d.batch, d.tq, width}},
                                       .context = {},
                                       .y = {pointer<float>(d.out), {d.batch, d.tq, width}},
                                       .options = read_options(d),
                                       .extras = read_extras(d)};
  if (d.k) {
    args.context = {pointer<const float>(d.k), {d.batch, d.tk, layer->config().d_context}};
  }
  return report(layer->forward(args, workspace));
}

void destroy_layer(Address handle) { delete pointer<MultiHeadAttention>(handle); }

qkv::SinusoidOptions sinusoid_options(double base, bool concatenated) {
  return {.base = base,
          .layout = concatenated ? qkv::SinusoidLayout::kConcatenated
                                 : qkv::SinusoidLayout::kInterleaved};
}

int sinusoid(Address table, int length, int d_model, int offset, double base, bool concatenated) {
  return report(qkv::sinusoidal_encoding({pointer<float>(table), {length, d_model}}, offset,
                                         sinusoid_options(base, concatenated)));
}

int shift_blocks(Address blocks, int k, int d_model, double base) {
  return report(qkv::sinusoidal_shift_blocks({pointer<float>(blocks), {(d_model + 1) / 2, 2, 2}}, k,
                                             d_model, sinusoid_options(base, false)));
}

int shift_matrix(Address matrix, int k, int d_model, double base, bool concatenated) {
  return report(qkv::sinusoidal_shift_matrix({pointer<float>(matrix), {d_model, d_model}}, k,
                                             sinusoid_options(base, concatenated)));
}

/// Room for the arrays of one call, kept between calls. Its address, or 0.
Address stage(std::uint32_t floats) {
  return report(staging.reserve(floats)) == 0 ? address_of(staging.data()) : 0;
}

/// A block of its own. Its handle, or 0.
Address create_buffer(std::uint32_t floats) {
  auto* buffer = new (std::nothrow) AlignedBuffer;
  if (!buffer) {
    report(Status::error(qkv::StatusCode::kOutOfMemory,
                         "out of memory: %.0f bytes could not be had",
                         static_cast<double>(floats) * sizeof(float)));
    return 0;
  }
  if (report(buffer->reserve(floats)) != 0) {
    delete buffer;
    return 0;
  }
  return address_of(buffer);
}
Address buffer_data(Address handle) { return address_of(pointer<AlignedBuffer>(handle)->data()); }
void destroy_buffer(Address handle) { delete pointer<AlignedBuffer>(handle); }

// Texts as addresses: a std::string would need memory just when there is none left.
Address last_message() { return address_of(last.message()); }
Address status_name(int code) {
  return address_of(qkv::status_code_name(static_cast<qkv::StatusCode>(code)));
}

}  // namespace

EMSCRIPTEN_BINDINGS(qkv) {
  using emscripten::function;
  function("_fields", +[] { return std::string(kFieldNames); });
  function("_descriptor", +[] { return address_of(&descriptor); });
  function("_isa", +[] { return std::string(qkv::active_isa()); });
  function("_version", +[] { return std::string(qkv::version()); });
  function("_statusCount", +[] { return qkv::kStatusCodeCount; });
  function("_statusName", &status_name);
  function("_lastCode", +[] { return static_cast<int>(last.code()); });
  function("_lastMessage", &last_message);
  function("_allocatedBytes", +[] { return static_cast<double>(qkv::allocated_bytes()); });
  function("_allocationCount", +[] { return static_cast<double>(qkv::allocation_count()); });
  function("_stage", &stage);
  function("_createBuffer", &create_buffer);
  function("_bufferData", &buffer_data);
  function("_destroyBuffer", &destroy_buffer);
  function("_attention", &attention);
  function("_createLayer", &create_layer);
  function("_forwardLayer", &forward_layer);
  function("_destroyLayer", &destroy_layer);
  function("_sinusoid", &sinusoid);
  function("_shiftBlocks", &shift_blocks);
  function("_shiftMatrix", &shift_matrix);
}
