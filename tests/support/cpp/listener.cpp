// What every run does beside its tests.
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

  /// With QKV_REPORT set: how close each quantity came to its bound and in which test, on stdout, and
  /// which ceilings nothing was held to. tests/core/ceilings.js makes the file of ceilings of it.
  void testRunEnded(const Catch::TestRunStats&) override {
    const char* report = std::getenv("QKV_REPORT");
    if (!report || !*report) {
      return;
    }
    for (const auto& [name, worst] : worst_ratios()) {
      std::printf("worst error / bound: %s | %.4g | %s\n", name.c_str(), worst.ratio,
                  worst.test.c_str());
    }
    for (const Ceiling& ceiling : ceilings()) {
      if (!worst_ratios().contains(ceiling.name)) {
        std::printf("no test compares: %s\n", ceiling.name);
      }
    }
    std::fflush(stdout);
  }
};
CATCH_REGISTER_LISTENER(Listener)

}  // namespace

}  // namespace qkv::test
