#include "qkv/embedding.hpp"

#include <cstring>

#include "check/check.hpp"

namespace qkv {
namespace {

void copy_row(TensorView<const float> table, Index from, TensorView<float> out, Index to) noexcept {
  const Index width = table.extent(1);
  if (width > 0) {
    std::memcpy(out.data + to * width, table.data + from * width,
                static_cast<std::size_t>(width) * sizeof(float));
  }
}

/// Whether rows [offset, offset + length) may be read.
Status check_rows(const char* function, Index max_length, Index length, Index offset,
                  OutOfRange out_of_range) noexcept {
  if (out_of_range != OutOfRange::kError && out_of_range != OutOfRange::kClamp) {
    return refuse(StatusCode::kInvalidArgument, function,
                  "@out_of_range is {}, expected a value of OutOfRange", out_of_range);
  }
  if (offset < 0) {
    return refuse(StatusCode::kOutOfRange, function, "@offset is {}, expected at least 0", offset);
  }
  if (length == 0) {
    return {};
  }
  const bool clamp = out_of_range == OutOfRange::kClamp;
  if (clamp ? max_length > 0 : offset <= max_length - length) {
    return {};
  }
  return refuse(StatusCode::kOutOfRange, function,
                "@offset is {} and @length {}, expected at most {} rows{}", offset, length,
                max_length, clamp ? ", and at least one to clamp to" : " in all");
}

}  // namespace

Status embedding(TensorView<const float> table, TensorView<const std::int32_t> ids,
                 TensorView<float> out) noexcept {
  constexpr const char* kName = "embedding";
  QKV_RETURN_IF_ERROR(check_dense(kName, "table", table, {kAny, kAny}));
  QKV_RETURN_IF_ERROR(check_dense(kName, "ids", ids, {kAny}));
  const Index n = ids.extent(0);
  QKV_RETURN_IF_ERROR(check_dense(kName, "out", out, {n, table.extent(1)}));
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"out", out}}, {{"table", table}, {"ids", ids}}));
  QKV_RETURN_IF_ERROR(check_ids(kName, "ids", ids, table.extent(0)));
  for (Index i = 0; i < n; ++i) {
    copy_row(table, ids.data[i], out, i);
  }
  return {};
}

Status learned_encoding(TensorView<const float> table, TensorView<float> out, Index offset,
                        OutOfRange out_of_range) noexcept {
  constexpr const char* kName = "learned_encoding";
  QKV_RETURN_IF_ERROR(check_dense(kName, "table", table, {kAny, kAny}));
  QKV_RETURN_IF_ERROR(check_dense(kName, "out", out, {kAny, table.extent(1)}));
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"out", out}}, {{"table", table}}));
  const Index length = out.extent(0);
  const Index last = table.extent(0) - 1;
  QKV_RETURN_IF_ERROR(check_rows(kName, table.extent(0), length, offset, out_of_range));
  // An array without columns may have any number of rows.
  for (Index i = 0; out.size() > 0 && i < length; ++i) {
    copy_row(table, offset <= last - i ? offset + i : last, out, i);
  }
  return {};
}

}  // namespace qkv
