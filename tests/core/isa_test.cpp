// Which instruction set runs, and that each computes the same thing.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "block.hpp"
#include "isas.hpp"

namespace qkv::test::isa_test {
namespace {

std::string forced() {
  const char* name = std::getenv("QKV_ISA");
  return name ? name : "";
}

/// Back to the automatic choice, however the test ends.
struct Restore {
  ~Restore() { static_cast<void>(select_isa(nullptr)); }
};

/// As messages list them.
std::string supported_list() {
  std::string list;
  for (const std::string& name : supported_isas()) {
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

TEST_CASE("isa: the one that runs is the one that QKV_ISA names", "[isa]") {
  if (forced().empty()) {
    CHECK(active_isa() == supported_isas().front());
  } else {
    CHECK(active_isa() == forced());
  }
}

TEST_CASE("isa: the list has names of its own and ends", "[isa]") {
  REQUIRE(isa_count() >= 1);
  std::set<std::string> names;
  for (int i = 0; i < isa_count(); ++i) {
    REQUIRE(isa_name(i) != nullptr);
    names.insert(isa_name(i));
  }
  CHECK(names.size() == static_cast<std::size_t>(isa_count()));
  for (int outside : {-1, isa_count(), isa_count() + 100}) {
    CHECK(isa_name(outside) == nullptr);
    CHECK(!isa_supported(outside));
  }
  CHECK(!supported_isas().empty());
}

#if defined(__EMSCRIPTEN__)
TEST_CASE("isa: a WebAssembly module has one", "[isa]") {
  CHECK(isa_count() == 1);
  const std::string only = isa_name(0);
  CHECK((only == "wasm-simd128" || only == "wasm-relaxed-simd"));
}
#endif

#if !defined(__EMSCRIPTEN__)
TEST_CASE("isa: scalar runs everywhere and comes last", "[isa][any-isa]") {
  CHECK(std::string(isa_name(isa_count() - 1)) == "scalar");
  CHECK(isa_supported(isa_count() - 1));
}
#endif

// With one rounding what the product of (1 + 2^-13)^2 has beyond 24 bits is in the sum; with two it is lost.
TEST_CASE("isa: a product and its sum are rounded once where the instruction set fuses them",
          "[isa]") {
  const float above_one = 1.0F + std::ldexp(1.0F, -13);
  const std::vector<float> x{1.0F, above_one};
  const std::vector<float> w{-1.0F - std::ldexp(1.0F, -12), above_one};
  std::vector<float> y{kUntouched};
  Workspace workspace;
  require_ok(linear({.x = {x.data(), {1, 2}},
                     .w = {w.data(), {2, 1}},
                     .bias = {},
                     .out = {y.data(), {1, 1}},
                     .layout = WeightLayout::kInOut},
                    workspace));
  const std::set<std::string> twice{"scalar", "sse4", "wasm-simd128"};
  const float kept = std::ldexp(1.0F, -26);
  CAPTURE(active_isa(), y[0]);
  if (std::string(active_isa()) == "wasm-relaxed-simd") {
    CHECK((y[0] == kept || y[0] == 0.0F));
  } else {
    CHECK(y[0] == (twice.contains(active_isa()) ? 0.0F : kept));
  }
}

TEST_CASE("isa: selecting an unknown one is refused and changes nothing", "[isa][bad-input]") {
  const Restore restore;
  const std::string before = active_isa();
  for (const char* name : {"mmx", "AVX2", "scalar ", "none"}) {
    CAPTURE(name);
    const Status status = select_isa(name);
    CHECK(status.code() == StatusCode::kUnsupported);
    CHECK(std::string(status.message()) ==
          std::string("select_isa: name is '") + name +
              "', expected one of this build that this machine can run: " + supported_list());
    CHECK(active_isa() == before);
  }
  require_ok(select_isa(supported_isas().back().c_str()));
  CHECK(select_isa("mmx").code() == StatusCode::kUnsupported);
  CHECK(active_isa() == supported_isas().back());
}

TEST_CASE("isa: those of the list that this machine has can be selected, and no others",
          "[isa][bad-input]") {
  const Restore restore;
  for (int i = 0; i < isa_count(); ++i) {
    CAPTURE(isa_name(i));
    CHECK(select_isa(isa_name(i)).code() ==
          (isa_supported(i) ? StatusCode::kOk : StatusCode::kUnsupported));
  }
}

TEST_CASE("isa: null and the empty name go back to the automatic choice", "[isa]") {
  const Restore restore;
  const std::string automatic = active_isa();
  for (const char* name : {static_cast<const char*>(nullptr), ""}) {
    require_ok(select_isa(supported_isas().back().c_str()));
    require_ok(select_isa(name));
    CHECK(active_isa() == automatic);
  }
}

TEST_CASE("isa: each supported one can be selected and computes within the bounds", "[isa]") {
  const Restore restore;
  for (const std::string& name : supported_isas()) {
    CAPTURE(name);
    require_ok(select_isa(name.c_str()));
    CHECK(active_isa() == name);
    Problem p({.batch = 2, .heads = 4, .kv_heads = 2, .tq = 33, .tk = 67, .dk = 20, .dv = 9}, 1);
    p.add_mask({33, 67});
    p.causal(20);
    p.check();
    LayerProblem({.d_model = 24, .num_heads = 3}, {.batch = 2, .tq = 19}, 2).check();
  }
}

TEST_CASE("isa: layers and blocks run only on the one that they were created for",
          "[isa][layer][bad-input]") {
  const Restore restore;
  const auto names = supported_isas();
  for (const std::string& created_on : names) {
    require_ok(select_isa(created_on.c_str()));
    BlockProblem p({.attention = {.d_model = 8, .num_heads = 2}, .d_feed_forward = 12}, {.tq = 5},
                   3);
    const TransformerBlockWeights w = p.weights();
    p.create(w);
    MultiHeadAttention attend;
    require_ok(MultiHeadAttention::create(p.config.attention, w.attention, attend));
    FeedForward inner;
    require_ok(FeedForward::create({.d_model = 8, .d_feed_forward = 12}, w.feed_forward, inner));
    const auto [x, y] = std::pair{p.args().x, p.args().y};
    const std::pair<std::string, std::function<Status()>> calls[] = {
        {"MultiHeadAttention::forward: the layer",
         [&] { return attend.forward({.x = x, .y = y}, p.workspace); }},
        {"FeedForward::forward: the layer",
         [&] { return inner.forward({.x = x, .y = y}, p.workspace); }},
        {"TransformerBlock::forward: the layer",
         [&] { return p.block.forward(p.args(), p.workspace); }}};
    for (const auto& [what, forward] : calls) {
      require_ok(select_isa(created_on.c_str()));
      require_ok(forward());
      const std::vector<float> before = p.y;
      for (const std::string& run_on : names) {
        CAPTURE(what, created_on, run_on);
        require_ok(select_isa(run_on.c_str()));
        std::fill(p.y.begin(), p.y.end(), kUntouched);
        const Status status = forward();
        if (run_on == created_on) {
          require_ok(status);
          CHECK(first_difference(before, p.y) == "");
        } else {
          CHECK(status.code() == StatusCode::kUnsupported);
          CHECK(std::string(status.message()) == what + " was created for " + created_on + " and " +
                                                     run_on + " is active, expected the same");
          CHECK(p.y == std::vector<float>(p.y.size(), kUntouched));
        }
      }
    }
  }
}

// Hidden; for a process started with QKV_ISA=nonsense.
TEST_CASE("isa: with an unknown QKV_ISA every operator that needs kernels says so",
          "[.][unknown-isa]") {
  using Catch::Matchers::ContainsSubstring;
  const Restore restore;
  const std::string name = forced();
  REQUIRE(!name.empty());
  CHECK(std::string(active_isa()).empty());

  Problem p(square(5, 4), 4);
  const Status refused = attention(p.args(), p.workspace);
  CHECK(refused.code() == StatusCode::kUnsupported);
  CHECK(std::string(refused.message()) ==
        "attention: QKV_ISA is '" + name +
            "', expected one of this build that this machine can run: " + supported_list());
  CHECK(p.result.out == std::vector<float>(p.result.out.size(), kUntouched));
  CHECK(attention_scratch_bytes(p.args()) == 0);

  LayerProblem layer({.d_model = 8, .num_heads = 2}, {.tq = 5}, 5);
  const Status created = MultiHeadAttention::create(layer.config, layer.weights(), layer.layer);
  CHECK(created.code() == StatusCode::kUnsupported);
  CHECK_THAT(created.message(), ContainsSubstring("'" + name + "'"));

  // Choosing one puts things right; going back to the automatic choice does not.
  require_ok(select_isa(supported_isas().back().c_str()));
  p.check();
  layer.run();
  require_ok(select_isa(nullptr));
  CHECK(attention(p.args(), p.workspace).code() == StatusCode::kUnsupported);
  const Status forward = layer.layer.forward(layer.args(), layer.workspace);
  CHECK(forward.code() == StatusCode::kUnsupported);
  CHECK_THAT(forward.message(), ContainsSubstring("'" + name + "'"));
}

// Hidden; a line for each instruction set of this build: its name and whether the machine has it.
TEST_CASE("isa: list", "[.][isas]") {
  for (int i = 0; i < isa_count(); ++i) {
    std::cout << "isa " << isa_name(i) << (isa_supported(i) ? " supported\n" : " unsupported\n");
  }
}

}  // namespace
}  // namespace qkv::test::isa_test
