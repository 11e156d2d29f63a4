// Spectra of weights and activations, in a module of their own.
#include "qkv/spectra.hpp"

#include <utility>

#include "support.hpp"

namespace qkv::wasm {
namespace {

TensorView<const float> turned(TensorView<const float> stack, bool transposed) noexcept {
  if (transposed) {
    std::swap(stack.shape[1], stack.shape[2]);
    std::swap(stack.strides[1], stack.strides[2]);
  }
  return stack;
}

}  // namespace

const char* isa() noexcept { return "wasm-simd128"; }

Status singularValues(const SingularValuesFields& given) noexcept {
  return singular_values(
      given.left, turned(given.right, given.transposed),
      {.values = given.values, .left = given.left_vectors, .right = given.right_vectors},
      scratch());
}

Status effectiveRank(const EffectiveRankFields& given) noexcept {
  return qkv::effective_rank(given.left, turned(given.right, given.transposed), given.out,
                             scratch());
}

Status eigenvalues(const EigenvaluesFields& given) noexcept {
  return qkv::eigenvalues(
      given.left, turned(given.right, given.transposed),
      {.real = given.real, .imaginary = given.imaginary, .copying = given.copying}, scratch());
}

Status pca(const PcaFields& given) noexcept {
  return qkv::pca(given.x, given.count,
                  {.mean = given.mean,
                   .components = given.components,
                   .variances = given.variances,
                   .shares = given.shares,
                   .projections = given.projections},
                  scratch());
}

}  // namespace qkv::wasm
