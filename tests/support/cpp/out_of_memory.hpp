// What is asked of an operation when memory runs out.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <string>
#include <vector>

#include "compare.hpp"
#include "failing_memory.hpp"
#include "problem.hpp"

namespace qkv::test {

/// The scratch that an operation announces, and the workspace that it takes it from.
struct Scratch {
  std::size_t announced;
  const Workspace* workspace;
};

/// One operation on objects of its own, and all that it may change.
struct Operation {
  std::function<Status()> call;
  std::function<std::vector<float>()> state;
  std::function<Scratch()> scratch = {};  ///< of operations that have some
};
using MakeOperation = std::function<Operation()>;

/// An operation takes the scratch that it announces, once: called again it asks for nothing and gives the same bits.
inline void require_scratch_as_announced(const Operation& operation,
                                         const std::vector<float>& expected) {
  const auto [announced, workspace] = operation.scratch();
  CHECK(announced > 0);
  CHECK(workspace->capacity_bytes() == announced);
  const std::size_t requests = allocation_count();
  require_ok(operation.call());
  CHECK(allocation_count() == requests);
  CHECK(first_difference(expected, operation.state()) == "");
}

/// Fails the operation's first request, then in another run its second, and so on to the last. Each time it
/// says so, changes nothing, keeps nothing, and does the right thing when it is called again. Returns how many there
/// were.
inline int require_survives(const char* name, int least_requests, const MakeOperation& make) {
  INFO(name);
  const Operation undisturbed = make();
  require_ok(undisturbed.call());
  const std::vector<float> expected = undisturbed.state();
  if (undisturbed.scratch) {
    require_scratch_as_announced(undisturbed, expected);
  }
  int request = 0;
  for (bool failed = true; failed; ++request) {
    CAPTURE(request);
    const Operation operation = make();
    const std::vector<float> before = operation.state();
    const std::size_t bytes = allocated_bytes();
    Status status;
    int others = 0;
    {
      const FailingMemory memory(request);
      status = operation.call();
      failed = memory.failed();
      others = memory.other_requests();
    }
    REQUIRE(others == 0);  // the core asks in one way only
    if (failed) {
      REQUIRE(status.code() == StatusCode::kOutOfMemory);
      REQUIRE(std::string(status.message()).find("out of memory: ") != std::string::npos);
      REQUIRE(allocated_bytes() == bytes);
      REQUIRE(first_difference(before, operation.state()) == "");
      status = operation.call();
    }
    require_ok(status);
    REQUIRE(first_difference(expected, operation.state()) == "");
  }
  CHECK(request - 1 >= least_requests);
  return request - 1;
}

/// An operation that asks for no memory at all.
inline void require_asks_for_nothing(const char* name, const std::function<Status()>& call) {
  INFO(name);
  Status status;
  int requests = 0;
  {  // what Catch2 itself asks for, with more than one reporter, is none of the operation's
    const FailingMemory memory(0);
    status = call();
    requests = memory.aligned_requests() + memory.other_requests();
  }
  require_ok(status);
  CHECK(requests == 0);
}

}  // namespace qkv::test
