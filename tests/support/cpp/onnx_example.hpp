// ONNX operators on this library: a JSON example of one, and what the library makes of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fixtures.hpp"

namespace qkv::test {

/// Results by name, row-major.
using Outputs = std::map<std::string, std::vector<float>>;

/// Computes the outputs of an example, { "op", "attributes", "inputs", "outputs" }. What ONNX says by the
/// presence of an input, the library is told: the offset of a causal call or a window, and the keys that a
/// mask leaves out at its end.
Status run_onnx(const Json& example, Outputs& outputs);

}  // namespace qkv::test
