// Reads GGUF files, versions 2 and 3: metadata by name, and the arrays. Lists of the metadata, such as vocabularies, are skipped. Everything
// is little-endian, as in the memory of the machines that this program runs on.
#pragma once

#include <qkv/number_format.hpp>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace gguf {

/// What is wrong with a file, for a person.
struct Problem : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An array of a file.
struct Tensor {
  std::uint32_t type = 0;             ///< by ggml's number
  std::vector<std::uint64_t> extent;  ///< the innermost first
  std::uint64_t offset = 0;           ///< from where all arrays begin
};

/// A type of numbers: what the library calls it, and how many numbers and bytes make a block.
struct Type {
  std::uint32_t ggml;
  qkv::NumberType name;
  std::uint64_t numbers;
  std::uint64_t bytes;
};

/// The types that the library reads, by ggml's numbers.
inline constexpr Type kTypes[] = {
    {0, qkv::NumberType::kF32, 1, 4},        {1, qkv::NumberType::kF16, 1, 2},
    {30, qkv::NumberType::kBf16, 1, 2},      {2, qkv::NumberType::kQ4_0, 32, 18},
    {3, qkv::NumberType::kQ4_1, 32, 20},     {6, qkv::NumberType::kQ5_0, 32, 22},
    {7, qkv::NumberType::kQ5_1, 32, 24},     {8, qkv::NumberType::kQ8_0, 32, 34},
    {10, qkv::NumberType::kQ2K, 256, 84},    {11, qkv::NumberType::kQ3K, 256, 110},
    {12, qkv::NumberType::kQ4K, 256, 144},   {13, qkv::NumberType::kQ5K, 256, 176},
    {14, qkv::NumberType::kQ6K, 256, 210},   {20, qkv::NumberType::kIq4Nl, 32, 18},
    {23, qkv::NumberType::kIq4Xs, 256, 136},
};

/// The type with ggml's number, or null.
inline const Type* type_of(const Tensor& tensor) {
  for (const Type& type : kTypes) {
    if (type.ggml == tensor.type) {
      return &type;
    }
  }
  return nullptr;
}

/// Bytes of a row of so many numbers; 0 for other types, and for what is no whole blocks.
inline std::uint64_t row_bytes(const Tensor& tensor) {
  const Type* type = type_of(tensor);
  const std::uint64_t count = tensor.extent[0];
  return type && count % type->numbers == 0 ? count / type->numbers * type->bytes : 0;
}

class File {
 public:
  explicit File(const std::string& path) : in_(path, std::ios::binary), path_(path) {
    in_.seekg(0, std::ios::end);
    if (!in_) {
      throw Problem(path + " cannot be read");
    }
    size_ = static_cast<std::uint64_t>(in_.tellg());
    in_.seekg(0);
    if (number<std::uint32_t>() != 0x46554747) {
      throw Problem(path + " is no GGUF file");
    }
    const auto version = number<std::uint32_t>();
    if (version != 2 && version != 3) {
      throw Problem(path + " is GGUF of version " + std::to_string(version) + ", expected 2 or 3");
    }
    const auto tensors = number<std::uint64_t>();
    for (auto left = number<std::uint64_t>(); left > 0; --left) {
      const std::string name = text();
      value(name, number<std::uint32_t>());
    }
    for (std::uint64_t i = 0; i < tensors; ++i) {
      read_tensor();
    }
    const auto alignment = static_cast<std::uint64_t>(number_of("general.alignment", 32));
    if (alignment == 0) {
      throw Problem(path + " has general.alignment 0");
    }
    begin_ = (static_cast<std::uint64_t>(in_.tellg()) + alignment - 1) / alignment * alignment;
  }

  [[nodiscard]] const std::map<std::string, double>& numbers() const { return numbers_; }
  [[nodiscard]] const std::map<std::string, std::string>& texts() const { return texts_; }
  [[nodiscard]] const std::map<std::string, Tensor>& tensors() const { return tensors_; }

  /// A number of the metadata, flags as 0 and 1.
  [[nodiscard]] double number_of(const std::string& name) const {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) {
      throw Problem(path_ + " has no number " + name);
    }
    return found->second;
  }
  [[nodiscard]] double number_of(const std::string& name, double fallback) const {
    return numbers_.contains(name) ? number_of(name) : fallback;
  }

  /// The bytes of an array.
  std::vector<char> bytes_of(const std::string& name) {
    const Tensor& tensor = tensors_.at(name);
    std::uint64_t bytes = row_bytes(tensor);
    if (bytes == 0) {
      throw Problem(
          name + " is of ggml's type " + std::to_string(tensor.type) + " in rows of " +
          std::to_string(tensor.extent[0]) +
          ", expected whole blocks of a type that the library reads: make such a file with "
          "llama-quantize --allow-requantize in.gguf out.gguf Q8_0");
    }
    for (std::size_t axis = 1; axis < tensor.extent.size(); ++axis) {
      bytes = tensor.extent[axis] > size_ / bytes ? size_ + 1 : bytes * tensor.extent[axis];
    }
    if (tensor.offset > size_ || begin_ + tensor.offset > size_ ||
        bytes > size_ - begin_ - tensor.offset) {
      throw Problem(name + " reaches past the end of " + path_);
    }
    std::vector<char> all(bytes);
    in_.seekg(static_cast<std::streamoff>(begin_ + tensor.offset));
    take(all.data(), bytes);
    return all;
  }

 private:
  void take(char* to, std::uint64_t bytes) {
    if (!in_.read(to, static_cast<std::streamsize>(bytes))) {
      throw Problem(path_ + " ends too early");
    }
  }

  template <class T>
  T number() {
    char bytes[sizeof(T)];
    take(bytes, sizeof(T));
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
  }

  std::string text() {
    const auto length = number<std::uint64_t>();
    if (length > size_) {
      throw Problem(path_ + " has a text of " + std::to_string(length) + " bytes");
    }
    std::string all(length, '\0');
    take(all.data(), length);
    return all;
  }

  double scalar(std::uint32_t type) {
    switch (type) {
      case 0:
      case 7:
        return number<std::uint8_t>();
      case 1:
        return number<std::int8_t>();
      case 2:
        return number<std::uint16_t>();
      case 3:
        return number<std::int16_t>();
      case 4:
        return number<std::uint32_t>();
      case 5:
        return number<std::int32_t>();
      case 6:
        return number<float>();
      case 10:
        return static_cast<double>(number<std::uint64_t>());
      case 11:
        return static_cast<double>(number<std::int64_t>());
      case 12:
        return number<double>();
      default:
        throw Problem(path_ + " has metadata of type " + std::to_string(type));
    }
  }

  void value(const std::string& name, std::uint32_t type) {
    if (type == 8) {
      texts_[name] = text();
    } else if (type != 9) {
      numbers_[name] = scalar(type);
    } else {
      const auto inner = number<std::uint32_t>();
      for (auto left = number<std::uint64_t>(); left > 0; --left) {
        if (inner == 8) {
          text();
        } else {
          scalar(inner);
        }
      }
    }
  }

  void read_tensor() {
    const std::string name = text();
    Tensor tensor;
    tensor.extent.resize(number<std::uint32_t>() % 5);
    for (std::uint64_t& extent : tensor.extent) {
      extent = number<std::uint64_t>();
    }
    tensor.type = number<std::uint32_t>();
    tensor.offset = number<std::uint64_t>();
    if (tensor.extent.empty()) {
      throw Problem(name + " has no axes, expected 1 to 4");
    }
    tensors_[name] = tensor;
  }

  std::ifstream in_;
  std::string path_;
  std::uint64_t size_ = 0;
  std::uint64_t begin_ = 0;
  std::map<std::string, double> numbers_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace gguf
