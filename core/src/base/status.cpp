#include "qkv/status.hpp"

#include <cstdarg>
#include <cstdio>

namespace qkv {

const char* status_code_name(StatusCode code) noexcept {
  switch (code) {
#define QKV_STATUS_NAME(enumerator, name, meaning) \
  case StatusCode::enumerator:                     \
    return name;
    QKV_STATUS_CODES(QKV_STATUS_NAME)
#undef QKV_STATUS_NAME
  }
  return "";  // only reached by a value cast from outside the table
}

Status Status::error(StatusCode code, const char* format, ...) noexcept {
  Status status;
  status.code_ = code;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(status.message_, sizeof(status.message_), format, arguments);
  va_end(arguments);
  return status;
}

}  // namespace qkv
