#include "rotation_counts.hpp"

#include <atomic>

#include "base/portable_math.hpp"

namespace qkv::test {

// The linker's names for what calls qkv::rotation(), and for the function itself (--wrap).
#define QKV_ROTATION "_ZN3qkv8rotationEd"
Rotation real_rotation(double angle) noexcept __asm__("__real_" QKV_ROTATION);
Rotation counted_rotation(double angle) noexcept __asm__("__wrap_" QKV_ROTATION);

namespace {

std::atomic<int> rotations{0};

}  // namespace

Rotation counted_rotation(double angle) noexcept {
  rotations.fetch_add(1, std::memory_order_relaxed);
  return real_rotation(angle);
}

RotationCounts::RotationCounts() noexcept { rotations = 0; }
RotationCounts::~RotationCounts() = default;
int RotationCounts::count() const noexcept { return rotations; }

}  // namespace qkv::test
