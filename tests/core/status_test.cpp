// Status: the table of codes and the text of messages.
#include <catch2/catch_test_macros.hpp>

#include <cstring>
#include <set>
#include <string>

#include "qkv/qkv.hpp"

namespace qkv::test::status_test {
namespace {

struct Entry {
  StatusCode code;
  const char* name;
};
constexpr Entry kTable[] = {
#define QKV_TEST_ENTRY(enumerator, name, meaning) {StatusCode::enumerator, name},
    QKV_STATUS_CODES(QKV_TEST_ENTRY)
#undef QKV_TEST_ENTRY
};

TEST_CASE("status: every code has its own stable name", "[status][any-isa]") {
  CHECK(std::size(kTable) == kStatusCodeCount);
  std::set<std::string> names;
  for (const Entry& entry : kTable) {
    CHECK(std::string(status_code_name(entry.code)) == entry.name);
    names.insert(entry.name);
  }
  CHECK(names.size() == kStatusCodeCount);
}

TEST_CASE("status: the names that programs depend on", "[status][any-isa]") {
  CHECK(std::string(status_code_name(StatusCode::kOk)) == "ok");
  CHECK(std::string(status_code_name(StatusCode::kInvalidArgument)) == "invalid_argument");
  CHECK(std::string(status_code_name(StatusCode::kShapeMismatch)) == "shape_mismatch");
  CHECK(std::string(status_code_name(StatusCode::kOutOfRange)) == "out_of_range");
  CHECK(std::string(status_code_name(StatusCode::kOutOfMemory)) == "out_of_memory");
  CHECK(std::string(status_code_name(StatusCode::kUnsupported)) == "unsupported");
}

TEST_CASE("status: a code from outside the table has a name that is not null",
          "[status][any-isa]") {
  CHECK(status_code_name(static_cast<StatusCode>(200)) != nullptr);
}

TEST_CASE("status: every code can be carried, and only kOk is ok", "[status][any-isa]") {
  for (const Entry& entry : kTable) {
    const Status status = Status::error(entry.code, "%s: %d", entry.name, 42);
    CHECK(status.code() == entry.code);
    CHECK(status.ok() == (entry.code == StatusCode::kOk));
    CHECK(std::string(status.message()) == std::string(entry.name) + ": 42");
  }
}

TEST_CASE("status: the default is ok with an empty message", "[status][any-isa]") {
  const Status status;
  CHECK(status.ok());
  CHECK(std::string(status.message()).empty());
}

TEST_CASE("status: messages longer than the buffer are cut and terminated", "[status][any-isa]") {
  for (int extra : {-2, -1, 0, 1, 1000}) {
    CAPTURE(extra);
    const std::string text(static_cast<std::size_t>(Status::kMaxMessage + extra), 'x');
    const Status status = Status::error(StatusCode::kOutOfRange, "%s", text.c_str());
    const auto kept = static_cast<std::size_t>(Status::kMaxMessage - 1);
    CHECK(std::strlen(status.message()) == std::min(text.size(), kept));
    CHECK(text.starts_with(status.message()));
  }
}

TEST_CASE("status: a copy carries its text", "[status][any-isa]") {
  Status copy;
  {
    const Status status = Status::error(StatusCode::kOutOfRange, "gone soon");
    copy = status;
  }
  CHECK(copy.code() == StatusCode::kOutOfRange);
  CHECK(std::string(copy.message()) == "gone soon");
}

TEST_CASE("status: QKV_RETURN_IF_ERROR leaves with the error and goes on without one",
          "[status][any-isa]") {
  const auto run = [](const Status& first, int& reached) -> Status {
    QKV_RETURN_IF_ERROR(first);
    ++reached;
    return {};
  };
  int reached = 0;
  CHECK(run({}, reached).ok());
  CHECK(reached == 1);
  CHECK(run(Status::error(StatusCode::kUnsupported, "no"), reached).code() ==
        StatusCode::kUnsupported);
  CHECK(reached == 1);
}

TEST_CASE("version: the one of the project", "[version][any-isa]") {
  CHECK(std::string(version()) == QKV_EXPECTED_VERSION);
}

}  // namespace
}  // namespace qkv::test::status_test
