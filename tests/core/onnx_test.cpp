// ONNX: the rules of its operators, which are part of the project (tests/reference/onnx/make_rules.js), and
// ONNX's own node tests (opsets 23 and 24) when they are at hand: a folder of JSON files of the same format,
// named by QKV_CONFORMANCE, or else in a folder `shared` beside the checkout.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "onnx_example.hpp"

namespace qkv::test::onnx_test {
namespace {

/// How far element i of n may be off: as the file says, one number for so many neighbours, or as ONNX allows.
double bound_of(const Json& expected, std::size_t i, std::size_t n, double value) {
  if (expected.contains("bound")) {
    const Json& bounds = expected.at("bound");
    return bounds.at(i * bounds.size() / n).get<double>();
  }
  return (expected.at("dtype") == "f16" ? 1e-3 : 2e-6) * std::max(1.0, std::abs(value));
}

void check_output(const std::string& name, const std::vector<float>& got, const Json& expected) {
  const JsonArray exact(expected);
  INFO(name);
  REQUIRE(!exact.exact.empty());
  REQUIRE(got.size() == exact.exact.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double computed = got[i];
    const double value = exact.exact[i];
    const double bound = bound_of(expected, i, got.size(), value);
    const bool same = computed == value || (std::isnan(computed) && std::isnan(value));
    if (!same && !(std::abs(computed - value) <= bound)) {
      FAIL_CHECK(name << "[" << i << "] is " << computed << ", expected " << value << " within "
                      << bound);
    }
  }
}

void check_example(const Json& example) {
  INFO(example.at("name"));
  Outputs got;
  const Status status = run_onnx(example, got);
  if (example.contains("refused")) {
    CHECK(status_code_name(status.code()) == example.at("refused").get<std::string>());
    return;
  }
  require_ok(status);
  int compared = 0;
  for (const auto& [name, expected] : example.at("outputs").items()) {
    // Mean and InvStdDev of a layer norm are there for its gradient, which this library has not.
    if (name != "Mean" && name != "InvStdDev") {
      REQUIRE(got.count(name) == 1);
      check_output(name, got.at(name), expected);
      ++compared;
    }
  }
  CHECK(compared > 0);
}

/// The files of rules by name, parsed once.
const std::map<std::string, Json>& rule_files() {
  static const std::map<std::string, Json> files = [] {
    std::map<std::string, Json> parsed;
    for (const auto& [name, text] : fixtures()) {
      if (name.starts_with("onnx/")) {
        parsed[name.substr(5)] = Json::parse(text);
      }
    }
    return parsed;
  }();
  return files;
}

TEST_CASE("onnx: every rule of Attention-23 to 25 and of the other operators", "[onnx]") {
  for (const char* name : {"attention-23", "attention-24", "attention-25"}) {
    REQUIRE(rule_files().count(name) == 1);
  }
  for (const auto& [name, file] : rule_files()) {
    REQUIRE(!file.at("rules").empty());
    for (const Json& rule : file.at("rules")) {
      DYNAMIC_SECTION(name << ": " << rule.at("rule").get<std::string>()) {
        REQUIRE(!rule.at("cases").empty());
        for (const Json& example : rule.at("cases")) {
          check_example(example);
        }
      }
    }
  }
}

#ifndef __EMSCRIPTEN__  // which has no folders of this machine; onnx.test.js runs these tests there
std::filesystem::path folder() {
  const char* named = std::getenv("QKV_CONFORMANCE");
  return named ? named : QKV_PROJECT_DIR "/../shared/conformance/onnx";
}

TEST_CASE("onnx: node tests", "[onnx]") {
  if (!std::filesystem::is_directory(folder())) {
    SKIP("SKIPPED: no ONNX node tests at " << folder() << "; name their folder in QKV_CONFORMANCE");
  }
  int tests = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() == ".json") {
      std::ifstream stream(entry.path());
      check_example(Json::parse(stream));
      ++tests;
    }
  }
  CHECK(tests > 0);
}
#endif

}  // namespace
}  // namespace qkv::test::onnx_test
