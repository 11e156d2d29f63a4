// The logarithm of portable_math.hpp. The rest of it is compiled for speed, this for size in WebAssembly.
#include "base/portable_math.hpp"
#include "kernels/log.hpp"

namespace qkv {

double natural_log(double x) noexcept { return kernels::natural_log(x); }

double entropy_term(double w) noexcept { return w == 0.0 ? 0.0 : -(w * natural_log(w)); }

}  // namespace qkv
