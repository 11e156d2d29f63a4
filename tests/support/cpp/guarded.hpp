// Arrays whose neighbours cannot be touched unnoticed.
#pragma once

#include <cstddef>
#include <vector>

namespace qkv::test {

/// Which end of an array lies against the guard.
enum class Edge { kBegin, kEnd };

/// An array of exactly `count` elements between two pages that fault when read or written. Where
/// there are no such pages (WebAssembly) and in the rest of the last page lie bytes of 0xFF, NaN to
/// whoever reads them as floats, whose change intact() notices.
class GuardedBytes {
 public:
  GuardedBytes(std::size_t bytes, Edge edge);
  ~GuardedBytes();
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] bool intact() const;
  /// From now on writing faults too, where there are pages.
  void make_read_only();

 private:
  std::size_t bytes_;
  std::size_t mapped_;     ///< everything, guards included
  std::size_t guard_;      ///< bytes of the guard at each end
  unsigned char* memory_;  ///< of the mapping
  unsigned char* data_;    ///< of the array
};

template <class T>
class Guarded {
 public:
  /// Holds a copy of `values` that may only be read.
  Guarded(const std::vector<T>& values, Edge edge) : Guarded(values.size(), edge) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      data()[i] = values[i];
    }
    bytes_.make_read_only();
  }
  /// `count` elements to write to.
  Guarded(std::size_t count, Edge edge) : bytes_(count * sizeof(T), edge), count_(count) {}

  [[nodiscard]] T* data() const { return static_cast<T*>(bytes_.data()); }
  [[nodiscard]] bool intact() const { return bytes_.intact(); }
  [[nodiscard]] std::vector<T> values() const { return {data(), data() + count_}; }

 private:
  GuardedBytes bytes_;
  std::size_t count_;
};

}  // namespace qkv::test
