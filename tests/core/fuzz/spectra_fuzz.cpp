// Spectra: any stacks of matrices, with any strides.
#include "judge.hpp"
#include "qkv/spectra.hpp"

namespace qkv::fuzz {
namespace {

void rank_call(Input& in) {
  Arena arena(in);
  const Index matrices = in.in(0, 3);
  const Index k = in.in(0, 9);
  const auto left = arena.in({matrices, in.in(0, 9), k}, {.unconstrained = 2});
  const auto right = arena.in({matrices, k, in.in(0, 9)}, {.unconstrained = 4});
  const auto out = arena.out({matrices});
  judge(arena, {.function = "effective_rank", .arguments = {"left", "right", "out "}, .run = [&] {
                  Workspace workspace;
                  return effective_rank(left, right, out, workspace);
                }});
}

void values_call(Input& in) {
  Arena arena(in);
  const Index matrices = in.in(0, 3);
  const Index k = in.in(0, 9);
  const Index m = in.in(0, 9);
  const Index n = in.in(0, 9);
  const Index r = std::min({m, k, n});
  const auto left = arena.in({matrices, m, k}, {.unconstrained = 2});
  const auto right = arena.in({matrices, k, n}, {.unconstrained = 2});
  const auto values = arena.out({matrices, r});
  const auto u = arena.out({matrices, m, r});
  judge(arena, {.function = "singular_values",
                .arguments = {"left", "right", "values ", "left_vectors "},
                .run = [&] {
                  Workspace workspace;
                  return singular_values(left, right, {.values = values, .left = u}, workspace);
                }});
}

void eigenvalues_call(Input& in) {
  Arena arena(in);
  const Index matrices = in.in(0, 3);
  const Index k = in.in(0, 9);
  const Index m = in.in(0, 9);
  const auto left = arena.in({matrices, m, k}, {.unconstrained = 2});
  const auto right = arena.in({matrices, k, m}, {.unconstrained = 2});
  const auto real = arena.out({matrices, std::min(m, k)});
  const auto imaginary = arena.out({matrices, std::min(m, k)});
  judge(arena, {.function = "eigenvalues",
                .arguments = {"left", "right", "real ", "imaginary "},
                .run = [&] {
                  Workspace workspace;
                  return eigenvalues(left, right, {.real = real, .imaginary = imaginary},
                                     workspace);
                }});
}

void pca_call(Input& in) {
  Arena arena(in);
  const Index n = in.in(0, 9);
  const Index d = in.in(0, 9);
  const Index count = in.in(0, std::min(n, d));
  const auto x = arena.in({n, d}, {.unconstrained = 1});
  const auto components = arena.out({count, d});
  const auto projections = arena.out({n, count});
  judge(arena, {.function = "pca", .arguments = {"x", "components ", "projections "}, .run = [&] {
                  Workspace workspace;
                  return pca(x, count, {.components = components, .projections = projections},
                             workspace);
                }});
}

}  // namespace
}  // namespace qkv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace qkv::fuzz;
  return call_one_of({rank_call, values_call, eigenvalues_call, pca_call}, data, size);
}
