// How many sines and cosines the core computes for rotations.
#pragma once

namespace qkv::test {

/// While it lives, counts how often the core computes the rotation of an angle. The linker leads these calls here
/// (tests/CMakeLists.txt). One at a time.
class RotationCounts {
 public:
  RotationCounts() noexcept;
  ~RotationCounts();
  RotationCounts(const RotationCounts&) = delete;
  RotationCounts& operator=(const RotationCounts&) = delete;

  [[nodiscard]] int count() const noexcept;
};

}  // namespace qkv::test
