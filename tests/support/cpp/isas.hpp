// Instruction sets of this machine, for tests that change the active one.
#pragma once

#include <string>
#include <vector>

#include "problem.hpp"
#include "qkv/isa.hpp"

namespace qkv::test {

inline std::vector<std::string> supported_isas() {
  std::vector<std::string> names;
  for (int i = 0; i < isa_count(); ++i) {
    if (isa_supported(i)) {
      names.emplace_back(isa_name(i));
    }
  }
  return names;
}

/// Those that are not active.
inline std::vector<std::string> other_isas() {
  std::vector<std::string> names = supported_isas();
  std::erase(names, std::string(active_isa()));
  return names;
}

/// Makes one the active one, and the one before it at the end.
class ActiveIsa {
 public:
  explicit ActiveIsa(const std::string& name) : before_(active_isa()) {
    require_ok(select_isa(name.c_str()));
  }
  ~ActiveIsa() { static_cast<void>(select_isa(before_.c_str())); }
  ActiveIsa(const ActiveIsa&) = delete;
  ActiveIsa& operator=(const ActiveIsa&) = delete;

 private:
  std::string before_;
};

}  // namespace qkv::test
