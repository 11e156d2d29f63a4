// Cross-entropy, and the operators that `qkv` does not have: gated recurrent units.
#include <cstring>

#include "qkv/train/gru.hpp"
#include "qkv/train/softmax.hpp"
#include "support.hpp"

namespace qkv::wasm {
namespace {

train::GruWeights weights_of(const GruWeightsFields& given) noexcept {
  return {.wx = given.wx, .wh = given.wh, .bx = given.bx, .bh = given.bh};
}

}  // namespace

Status crossEntropy(const CrossEntropyFields& given) noexcept {
  train::CrossEntropy found;
  const Index ignored = given.ignore_index;
  Status status =
      train::cross_entropy({.logits = given.logits,
                            .targets = given.targets,
                            .ignore_index = static_cast<std::int32_t>(ignored),
                            .label_smoothing = static_cast<float>(given.label_smoothing),
                            .d_logits = given.d_logits},
                           found, scratch());
  if (status.ok()) {
    const double numbers[] = {found.loss, static_cast<double>(found.correct),
                              static_cast<double>(found.counted)};
    std::memcpy(given.found.view().data, numbers, sizeof(numbers));
  }
  return status;
}

Status gru(const GruFields& given) noexcept {
  return train::gru(
      {.x = given.x, .weights = weights_of(given.weights), .h0 = given.h0, .out = given.out},
      scratch());
}

Status gruBackward(const GruBackwardFields& given) noexcept {
  train::GruBackwardArgs args{.d_out = given.d_out,
                              .x = given.x,
                              .weights = weights_of(given.weights),
                              .h0 = given.h0,
                              .out = given.out,
                              .dx = given.dx,
                              .dh0 = given.dh0,
                              .dwx = given.dwx,
                              .dwh = given.dwh,
                              .dbx = given.dbx,
                              .dbh = given.dbh};
  AlignedBuffer states;
  if (args.out.absent()) {
    if (Status status = states.reserve(static_cast<std::size_t>(args.d_out.size())); !status.ok()) {
      return status;
    }
    TensorView<float> out = {states.data(),
                             {args.d_out.extent(0), args.d_out.extent(1), args.d_out.extent(2)}};
    if (Status status = train::gru(
            {.x = args.x, .weights = args.weights, .h0 = args.h0, .out = out}, scratch());
        !status.ok()) {
      return status;
    }
    args.out = out;
  }
  return train::gru_backward(args, scratch());
}

}  // namespace qkv::wasm
