// What every run does beside its tests.
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "compare.hpp"

namespace qkv::test {
namespace {

std::map<std::string, double>& ratios() {
  static std::map<std::string, double> map;
  return map;
}

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

  /// With QKV_REPORT set: how close each result came to its bound, on stderr.
  void testRunEnded(const Catch::TestRunStats&) override {
    const char* report = std::getenv("QKV_REPORT");
    if (!report || !*report) {
      return;
    }
    for (const auto& [name, ratio] : ratios()) {
      std::fprintf(stderr, "worst error / bound: %-28s %.3f\n", name.c_str(), ratio);
    }
  }
};
CATCH_REGISTER_LISTENER(Listener)

}  // namespace

void note_ratio(const char* name, double ratio) {
  double& worst = ratios()[name];
  worst = ratio > worst ? ratio : worst;
}

}  // namespace qkv::test
