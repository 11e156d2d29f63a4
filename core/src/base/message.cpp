#include "base/message.hpp"

#include <algorithm>
#include <atomic>

#include "base/number_text.hpp"

namespace qkv {
namespace {

std::atomic<ArgumentNames> argument_names{nullptr};

bool in_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
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
        put(NumberText(value.real).text());
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

  void put_whole(std::uint64_t value) noexcept { put(NumberText(value).text()); }

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
