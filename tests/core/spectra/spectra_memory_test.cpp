// Bad input of the spectra is refused, and so is a call that no memory is left for.
#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <memory>

#include "out_of_memory.hpp"
#include "refusal.hpp"
#include "spectra_problem.hpp"

namespace qkv::test::spectra_memory_test {
namespace {

constexpr Demands kIn{.any_strides = true};
constexpr Demands kOut{.written = true};
constexpr Demands kOptionalOut{.written = true, .optional = true};

/// A correct call: views of zeros, and what runs on them.
struct SpectraCall : Call {
  struct Part {
    const char* name;
    std::vector<Index> shape;
    std::vector<Index> expected;
    Demands demands;
  };
  SpectraCall(const char* name, std::vector<Part> of) : Call(name), parts(std::move(of)) {
    for (const Part& part : parts) {
      const auto size = static_cast<std::size_t>(view_of<float>(nullptr, part.shape).size());
      numbers.emplace_back(size, part.demands.written ? kUntouched : 0.0F);
      v.push_back(view_of(numbers.back().data(), part.shape));
    }
    gather();
  }
  std::size_t memory() override { return allocated_bytes(); }
  std::vector<Array> arrays() override {
    std::vector<Array> all;
    for (std::size_t i = 0; i < v.size(); ++i) {
      all.push_back({parts[i].name, v[i], parts[i].expected, parts[i].demands});
    }
    return all;
  }
  std::vector<Part> parts;
  std::vector<std::vector<float>> numbers;
  std::vector<TensorView<float>> v;
};

struct ValuesCall : SpectraCall {
  ValuesCall()
      : SpectraCall("singular_values", {{"left", {2, 3, 4}, {kAny, kAny, kAny}, kIn},
                                        {"right", {2, 4, 5}, {2, 4, kAny}, kIn},
                                        {"values", {2, 3}, {2, 3}, kOut},
                                        {"left_vectors", {2, 3, 3}, {2, 3, 3}, kOptionalOut},
                                        {"right_vectors", {2, 5, 3}, {2, 5, 3}, kOptionalOut}}) {}
  Status run() override {
    return singular_values(v[0], v[1], {.values = v[2], .left = v[3], .right = v[4]}, workspace);
  }
};

struct RankCall : SpectraCall {
  RankCall()
      : SpectraCall("effective_rank", {{"left", {2, 3, 4}, {kAny, kAny, kAny}, kIn},
                                       {"right", {2, 4, 5}, {2, 4, kAny}, kIn},
                                       {"out", {2}, {2}, kOut}}) {}
  Status run() override { return effective_rank(v[0], v[1], v[2], workspace); }
};

struct EigenvaluesCall : SpectraCall {
  EigenvaluesCall()
      : SpectraCall("eigenvalues", {{"left", {2, 5, 3}, {kAny, kAny, kAny}, kIn},
                                    {"right", {2, 3, 5}, {2, 3, 5}, kIn},
                                    {"real", {2, 3}, {2, 3}, kOptionalOut},
                                    {"imaginary", {2, 3}, {2, 3}, kOptionalOut},
                                    {"copying", {2}, {2}, kOptionalOut}}) {}
  Status run() override {
    return eigenvalues(v[0], v[1], {.real = v[2], .imaginary = v[3], .copying = v[4]}, workspace);
  }
};

struct PcaCall : SpectraCall {
  PcaCall()
      : SpectraCall("pca", {{"x", {6, 4}, {kAny, kAny}, kIn},
                            {"mean", {4}, {4}, kOptionalOut},
                            {"components", {2, 4}, {2, 4}, kOptionalOut},
                            {"variances", {2}, {2}, kOptionalOut},
                            {"shares", {2}, {2}, kOptionalOut},
                            {"projections", {6, 2}, {6, 2}, kOptionalOut}}) {}
  Status run() override {
    return pca(
        v[0], count,
        {.mean = v[1], .components = v[2], .variances = v[3], .shares = v[4], .projections = v[5]},
        workspace);
  }
  Index count = 2;
};

TEST_CASE("spectra: arrays that do not fit are refused", "[spectra][bad-input]") {
  for (const Make& make : {Make(correct<ValuesCall>), Make(correct<RankCall>),
                           Make(correct<EigenvaluesCall>), Make(correct<PcaCall>)}) {
    require_arrays_checked(make);
    require_sharing_refused(make);
  }
  require_refused<PcaCall>({{[](auto& c) { c.count = 5; }, kRange, "count is 5", "0 to 4"},
                            {[](auto& c) { c.count = -1; }, kRange, "count is -1", "0 to 4"}});
}

struct Numbers {
  Numbers(Index numbers, Index results) {
    Random random(1);
    in = random_floats(random, numbers);
    out.assign(static_cast<std::size_t>(results), kUntouched);
  }
  std::vector<float> in, out;
  Workspace workspace;
};

/// An operation on 240 numbers with 200 results.
template <class Run>
Operation operation(Run run) {
  auto p = std::make_shared<Numbers>(240, 200);
  return {[p, run] { return run(p->in.data(), p->out.data(), p->workspace); },
          [p] { return p->out; },
          [p] { return Scratch{p->workspace.capacity_bytes(), &p->workspace}; }};
}

TEST_CASE("spectra: every request for memory may fail", "[spectra][memory][out-of-memory]") {
  const auto values = [](const float* in, float* out, Workspace& workspace) {
    return singular_values({in, {2, 12, 5}}, {in + 120, {2, 5, 12}},
                           {.values = {out, {2, 5}}, .left = {out + 10, {2, 12, 5}}}, workspace);
  };
  const auto rank = [](const float* in, float* out, Workspace& workspace) {
    return effective_rank({in, {2, 12, 5}}, {in + 120, {2, 5, 12}}, {out, {2}}, workspace);
  };
  const auto roots = [](const float* in, float* out, Workspace& workspace) {
    return eigenvalues({in, {2, 12, 5}}, {in + 120, {2, 5, 12}}, {.real = {out, {2, 5}}},
                       workspace);
  };
  const auto plane = [](const float* in, float* out, Workspace& workspace) {
    return pca({in, {24, 10}}, 3,
               {.components = {out, {3, 10}}, .projections = {out + 30, {24, 3}}}, workspace);
  };
  CHECK(require_survives("singular_values", 1, [&] { return operation(values); }) == 1);
  CHECK(require_survives("effective_rank", 1, [&] { return operation(rank); }) == 1);
  CHECK(require_survives("eigenvalues", 1, [&] { return operation(roots); }) == 1);
  CHECK(require_survives("pca", 1, [&] { return operation(plane); }) == 1);
}

TEST_CASE("spectra: what is larger than memory is refused", "[spectra][memory]") {
  const float zero = 0.0F;
  float rank = kUntouched;
  Workspace workspace;
  // One number that stands for all of them.
  TensorView<const float> left(&zero, {1, std::numeric_limits<Index>::max() / 4, 1024});
  TensorView<const float> right(&zero, {1, 1024, 8});
  left.strides = {0, 0, 0};
  right.strides = {0, 0, 0};
  CHECK(effective_rank(left, right, {&rank, {1}}, workspace).code() == StatusCode::kOutOfMemory);
  CHECK(rank == kUntouched);
}

}  // namespace
}  // namespace qkv::test::spectra_memory_test
