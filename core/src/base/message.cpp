#include "base/message.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>

namespace qkv {
namespace {

std::atomic<ArgumentNames> argument_names{nullptr};

bool in_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/// A positive finite number as digits / 100000 * 10^exponent, with six digits.
struct SixDigits {
  std::uint64_t digits;
  int exponent;
};

/// Scaling costs 2e-15 of the value, 2e-9 of the last digit: what is so close to halfway between two numbers of
/// six digits may become either.
SixDigits six_digits(double value) noexcept {
  constexpr struct {
    int power;
    double scale;
  } kSteps[] = {{256, 1e256}, {128, 1e128}, {64, 1e64}, {32, 1e32}, {16, 1e16},
                {8, 1e8},     {4, 1e4},     {2, 1e2},   {1, 1e1}};
  int exponent = 5;
  for (const auto& [power, scale] : kSteps) {
    if (value >= 1e6 && value / scale >= 1e5) {
      value /= scale;
      exponent += power;
    } else if (value < 1e5 && value * scale < 1e6) {
      value *= scale;
      exponent -= power;
    }
  }
  auto digits = static_cast<std::uint64_t>(value);
  const double rest = value - static_cast<double>(digits);
  digits += rest > 0.5 || (rest == 0.5 && digits % 2 != 0) ? 1U : 0U;
  return digits < 1000000U ? SixDigits{digits, exponent} : SixDigits{100000U, exponent + 1};
}

/// Writes into a buffer as far as there is room.
class Writer {
 public:
  Writer(char* to, int room, const char* prefix) noexcept
      : begin_(to), at_(to), end_(to + room - 1), prefix_(prefix) {
    *at_ = '\0';
  }
  [[nodiscard]] int length() const noexcept { return static_cast<int>(at_ - begin_); }

  void put(char c) noexcept {
    if (at_ < end_) {
      *at_++ = c;
      *at_ = '\0';
    }
  }
  void put(const char* text) noexcept {
    while (*text != '\0') {
      put(*text++);
    }
  }

  /// Text with marked names and with places for `values`; without values it has none.
  void put_sentence(const char* c, const MessageValue* values) noexcept {
    while (*c != '\0') {
      if (values && c[0] == '{' && c[1] == '}') {
        put_value(*values++);
        c += 2;
      } else if (*c == '@') {
        c = put_marked(c + 1);
      } else {
        put(*c++);
      }
    }
  }

 private:
  /// The name that begins here; returns what comes after it.
  const char* put_marked(const char* c) noexcept {
    char name[kLongestName];
    std::size_t used = 0;
    while (in_name(*c) && used + 1 < sizeof(name)) {
      name[used++] = *c++;
    }
    name[used] = '\0';
    put_name(name);
    return c;
  }

  void put_name(const char* name) noexcept {
    char path[2 * kLongestName];
    std::size_t used = 0;
    for (const char* part : {prefix_, name}) {
      while (*part != '\0' && used + 1 < sizeof(path)) {
        path[used++] = *part++;
      }
    }
    path[used] = '\0';
    prefix_ = "";
    const ArgumentNames names = argument_names.load(std::memory_order_acquire);
    for (char* segment = path; segment;) {
      char* dot = std::find(segment, path + used, '.');
      const bool last = dot == path + used;
      *dot = '\0';
      put(names ? names(segment) : segment);
      segment = last ? nullptr : dot + 1;
      put(last ? "" : ".");
    }
  }

  void put_value(const MessageValue& value) noexcept {
    using Kind = MessageValue::Kind;
    switch (value.kind) {
      case Kind::kText:
        put_sentence(value.text, nullptr);
        break;
      case Kind::kVerbatim:
        put(value.text);
        break;
      case Kind::kNegative:
        put('-');
        [[fallthrough]];
      case Kind::kWhole:
        put_whole(value.whole);
        break;
      case Kind::kReal:
        put_real(value.real);
        break;
      case Kind::kArgument:
        put_name(value.argument->name);
        if (value.argument->element >= 0) {
          put('[');
          put_whole(static_cast<std::uint64_t>(value.argument->element));
          put(']');
        }
        break;
      case Kind::kExtents:
        put_extents(*value.extents);
        break;
    }
  }

  void put_whole(std::uint64_t value, int least_digits = 1) noexcept {
    char digits[20];
    int count = 0;
    for (; value > 0 || count < least_digits; value /= 10) {
      digits[count++] = static_cast<char>('0' + value % 10);
    }
    while (count > 0) {
      put(digits[--count]);
    }
  }

  void put_index(Index value) noexcept { put_value(MessageValue(value)); }

  void put_extents(const Extents& extents) noexcept {
    if (extents.rank < 0 || extents.rank > TensorView<float>::kMaxRank) {
      put("of rank ");
      put_index(extents.rank);
      return;
    }
    put('[');
    for (int axis = 0; axis < extents.rank; ++axis) {
      put(axis > 0 ? "," : "");
      if (extents.data[axis] == kAny) {
        put('*');
      } else {
        put_index(extents.data[axis]);
      }
    }
    put(']');
  }

  void put_real(double value) noexcept {
    if (std::isnan(value)) {
      put("NaN");
      return;
    }
    put(std::signbit(value) ? "-" : "");
    value = std::fabs(value);
    if (std::isinf(value) || value == 0.0) {
      put(value == 0.0 ? "0" : "Infinity");
      return;
    }
    SixDigits six = six_digits(value);
    int count = 6;
    for (; six.digits % 10 == 0; six.digits /= 10) {
      --count;
    }
    if (six.exponent < -4 || six.exponent > 5) {
      put_point(six.digits, count, 1);
      put(six.exponent < 0 ? "e-" : "e+");
      put_whole(static_cast<std::uint64_t>(std::abs(six.exponent)), 2);
      return;
    }
    put_point(six.digits, count, six.exponent + 1);
  }

  /// `count` digits with the point after the first `whole` of them.
  void put_point(std::uint64_t digits, int count, int whole) noexcept {
    for (; count < whole; ++count) {
      digits *= 10;
    }
    if (whole <= 0) {
      put("0.");
      put_whole(digits, count - whole);
      return;
    }
    std::uint64_t unit = 1;
    for (int i = whole; i < count; ++i) {
      unit *= 10;
    }
    put_whole(digits / unit);
    if (count > whole) {
      put('.');
      put_whole(digits % unit, count - whole);
    }
  }

  static constexpr std::size_t kLongestName = 48;
  char* begin_;
  char* at_;
  char* end_;
  const char* prefix_;  ///< of the next name
};

}  // namespace

void set_argument_names(ArgumentNames names) noexcept {
  argument_names.store(names, std::memory_order_release);
}

Status MessageWriter::compose(StatusCode code, const Caller& caller, const char* sentence,
                              const MessageValue* values) noexcept {
  Status status;
  status.code_ = code;
  Writer writer(status.message_, Status::kMaxMessage, caller.prefix);
  if (caller.function) {
    writer.put(caller.function);
    writer.put(": ");
    status.detail_ = static_cast<std::uint8_t>(writer.length());
  }
  writer.put_sentence(sentence, values);
  return status;
}

}  // namespace qkv
