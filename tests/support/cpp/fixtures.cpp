#include "fixtures.hpp"

#include <cmath>

namespace qkv::test {

double json_number(const Json& json) {
  if (json.is_boolean()) {
    return json.get<bool>() ? 1.0 : 0.0;
  }
  if (!json.is_string()) {
    return json.get<double>();
  }
  const auto word = json.get<std::string>();
  return word == "inf" ? INFINITY : word == "-inf" ? -INFINITY : NAN;
}

JsonArray::JsonArray(const Json& json)
    : dtype(json.value("dtype", "")), shape(json.at("shape").get<std::vector<Index>>()) {
  for (const Json& number : json.at("data")) {
    exact.push_back(json_number(number));
    values.push_back(static_cast<float>(exact.back()));
  }
}

std::vector<std::uint8_t> JsonArray::bytes(bool flip) const {
  std::vector<std::uint8_t> bytes;
  for (double value : exact) {
    bytes.push_back((value != 0.0) != flip ? 1 : 0);
  }
  return bytes;
}

std::vector<std::int32_t> JsonArray::integers() const {
  std::vector<std::int32_t> integers;
  for (double value : exact) {
    integers.push_back(static_cast<std::int32_t>(value));
  }
  return integers;
}

}  // namespace qkv::test
