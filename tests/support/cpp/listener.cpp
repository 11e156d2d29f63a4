// What every run does beside its tests.
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <string>

#include "ceilings.hpp"
#include "qkv/qkv.hpp"

namespace qkv::test {
namespace {

class Listener : public Catch::EventListenerBase {
 public:
  using Catch::EventListenerBase::EventListenerBase;

  /// A run for an instruction set that this build has and this machine lacks is no failure: it
  /// leaves with 4, Catch2's own code for "everything skipped".
  void testRunStarting(const Catch::TestRunInfo&) override {
    const char* forced = std::getenv("QKV_ISA");
    for (int i = 0; forced && i < isa_count(); ++i) {
      if (std::strcmp(forced, isa_name(i)) == 0 && !isa_supported(i)) {
        std::fprintf(stderr, "skipped: this machine cannot run %s\n", forced);
        std::exit(4);
      }
    }
  }
};
CATCH_REGISTER_LISTENER(Listener)

/// `--reporter cases`: a line when a test begins and one when it ends, so that the last one of a run that was stopped is known.
/// Reporters of Catch2 that a program can read write out every assertion that holds: of millions that takes up to a fifth of the
/// time of the suites, and under a sanitizer as WebAssembly most of it.
class Cases : public Catch::StreamingReporterBase {
 public:
  using Catch::StreamingReporterBase::StreamingReporterBase;
  static std::string getDescription() { return "which tests began, and how each ended"; }

  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    StreamingReporterBase::testCaseStarting(test);
    m_stream << "begins " << test.name << '\n' << std::flush;
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    const Catch::Counts& found = stats.totals.assertions;
    const char* result = found.skipped > 0 ? "skipped " : "passed ";
    m_stream << (found.allOk() ? result : "failed ") << stats.testInfo->name << '\n' << std::flush;
    StreamingReporterBase::testCaseEnded(stats);
  }
};
CATCH_REGISTER_REPORTER("cases", Cases)

/// `--reporter ratios`: how close each quantity came to its bound and in which test, and which ceilings
/// nothing was held to. tests/core/ceilings.js makes the file of ceilings of it.
class Ratios : public Catch::StreamingReporterBase {
 public:
  using Catch::StreamingReporterBase::StreamingReporterBase;
  static std::string getDescription() { return "the worst error / bound of each quantity"; }

  void testRunEnded(const Catch::TestRunStats&) override {
    for (const auto& [name, worst] : worst_ratios()) {
      m_stream << name << " | " << worst.ratio << " | " << worst.test << '\n';
    }
    for (const Ceiling& ceiling : ceilings()) {
      if (!worst_ratios().contains(ceiling.name)) {
        m_stream << "no test compares: " << ceiling.name << '\n';
      }
    }
  }
};
CATCH_REGISTER_REPORTER("ratios", Ratios)

}  // namespace

}  // namespace qkv::test
