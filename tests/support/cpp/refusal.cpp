#include "refusal.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace qkv::test {

void require_refused(const Status& status, const char* function, const Refusal& refusal) {
  using Catch::Matchers::ContainsSubstring;
  using Catch::Matchers::StartsWith;
  const std::string message = status.message();
  CHECK(std::string(status_code_name(status.code())) == status_code_name(refusal.code));
  CHECK_THAT(message, StartsWith(std::string(function) + ": "));
  CHECK_THAT(message, ContainsSubstring(refusal.argument));
  CHECK_THAT(message, ContainsSubstring(refusal.was));
  CHECK_THAT(message, ContainsSubstring(refusal.expected));
  CHECK(message.size() < Status::kMaxMessage - 1);  // nothing was cut
}

}  // namespace qkv::test
