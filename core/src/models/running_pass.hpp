// A pass between its checks and its end.
#pragma once

#include "models/pass_needs.hpp"
#include "models/pass_plan.hpp"

namespace qkv {

struct RunningPass {
  std::size_t own = 0;  ///< floats of workspace that the caller takes besides, before the pass runs
  bool every_row = false;  ///< the last layer computes all rows, whatever is requested
  PassPlan plan;
  ModelNeeds needs;
  Index before = 0;  ///< tokens that the session held
};

}  // namespace qkv
