// JSON fixtures: inputs, and what another library made of them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "problem.hpp"

namespace qkv::test {

using Json = nlohmann::json;

/// The texts of tests/reference/torch/fixtures/<name>.json by name, and those of
/// tests/reference/onnx/rules/<name>.json by "onnx/<name>". embed.cmake compiles them in, so that they are there
/// in a browser too.
const std::map<std::string, std::string_view>& fixtures();

/// { "shape": [...], "data": [...] } and perhaps a "dtype". Infinities and NaN are words in JSON.
struct JsonArray {
  explicit JsonArray(const Json& json);

  [[nodiscard]] TensorView<const float> view() const { return view_of(values.data(), shape); }
  [[nodiscard]] bool is_bool() const { return dtype == "bool"; }
  /// 1 where the number is not 0, as masks are; with `flip` where it is.
  [[nodiscard]] std::vector<std::uint8_t> bytes(bool flip = false) const;
  [[nodiscard]] std::vector<std::int32_t> integers() const;

  std::string dtype;
  std::vector<Index> shape;
  std::vector<double> exact;  ///< as it is written
  std::vector<float> values;  ///< rounded to float32
};

/// A number or a word for one.
double json_number(const Json& json);

}  // namespace qkv::test
