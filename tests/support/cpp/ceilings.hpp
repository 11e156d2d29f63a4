// How close each quantity has come to its bound in this run, and how close it may come (ceilings.def).
#pragma once

#include <map>
#include <span>
#include <string>

namespace qkv::test {

/// The greatest error / bound that a quantity may have.
struct Ceiling {
  const char* name;
  double ratio;
};
std::span<const Ceiling> ceilings();

/// The greatest error / bound that a quantity has had in this run, and in which test case.
struct Worst {
  double ratio = 0.0;
  std::string test;
};
std::map<std::string, Worst>& worst_ratios();

}  // namespace qkv::test
