// The raw module: pointers, sizes and status codes. Private to the npm package; wasm/src puts a typed
// API over it.
#include <emscripten/bind.h>

#include <algorithm>
#include <new>

#include "abi.hpp"
#include "support.hpp"
#include "threads.hpp"

namespace {

using qkv::AlignedBuffer;
using qkv::Status;
using qkv::wasm::Address;
using qkv::wasm::address_of;
using qkv::wasm::pointer;

qkv::wasm::Arguments arguments;
AlignedBuffer staging;
Status last;

/// Keeps the status for _lastDetail() and passes the code on.
int report(const Status& status) {
  last = status;
  return static_cast<int>(status.code());
}

/// Blocks of at most 4 MB are kept for the next call; larger ones are given back, because one large call would
/// keep them for good.
constexpr std::size_t kKeptFloats = std::size_t{1} << 20;

int run(int index) {
  const int code = report(qkv::wasm::check_threads(qkv::wasm::kOperators[index](arguments)));
  if (qkv::wasm::scratch().capacity_bytes() > kKeptFloats * sizeof(float)) {
    qkv::wasm::scratch().release();
  }
  return code;
}

/// Room for the arrays of one call. Its address, or 0. The old block goes first, and the scratch with it, which would
/// keep the new one from their place; the new one is half as large again, so that calls that grow a little each time
/// seldom need one.
Address stage(std::uint32_t floats) {
  const std::size_t had = staging.capacity();
  if (floats > had) {
    staging.release();
    qkv::wasm::scratch().release();
    const std::size_t roomy = std::min(had + had / 2, kKeptFloats);
    if (roomy > floats && staging.reserve(roomy).ok()) {
      return address_of(staging.data());
    }
  }
  return report(staging.reserve(floats)) == 0 ? address_of(staging.data()) : 0;
}
/// After the last read of a call.
void unstage() {
  if (staging.capacity() > kKeptFloats) {
    staging.release();
  }
}

/// A block of its own. Its handle, or 0.
Address create_buffer(std::uint32_t floats) {
  auto* buffer = new (std::nothrow) AlignedBuffer;
  if (!buffer) {
    report(Status::error(qkv::StatusCode::kOutOfMemory,
                         "out of memory: %.0f bytes could not be allocated",
                         static_cast<double>(floats) * sizeof(float)));
    return 0;
  }
  if (report(buffer->reserve(floats)) != 0) {
    delete buffer;
    return 0;
  }
  return address_of(buffer);
}
Address buffer_data(Address handle) { return address_of(pointer<AlignedBuffer>(handle)->data()); }
void destroy_buffer(Address handle) { delete pointer<AlignedBuffer>(handle); }

// Texts as addresses: a std::string would need memory just when there is none left, and the glue would
// look for SharedArrayBuffer to read it, which pages that are not isolated do not have.
Address last_detail() { return address_of(last.detail()); }
Address status_name(int code) {
  return address_of(qkv::status_code_name(static_cast<qkv::StatusCode>(code)));
}

}  // namespace

EMSCRIPTEN_BINDINGS(qkv) {
  using emscripten::function;
  qkv::set_argument_names(&qkv::wasm::caller_name);
  function("_arguments", +[] { return address_of(&arguments); });
  function("_made", +[] { return qkv::wasm::made(); });
  function("_isa", +[] { return address_of(qkv::wasm::isa()); });
  function("_statusCount", +[] { return qkv::kStatusCodeCount; });
  function("_statusName", &status_name);
  function("_lastCode", +[] { return static_cast<int>(last.code()); });
  function("_lastDetail", &last_detail);
  function("_allocatedBytes", +[] { return static_cast<double>(qkv::allocated_bytes()); });
  function("_allocationCount", +[] { return static_cast<double>(qkv::allocation_count()); });
  function("_stage", &stage);
  function("_unstage", &unstage);
  function("_createBuffer", &create_buffer);
  function("_bufferData", &buffer_data);
  function("_destroyBuffer", &destroy_buffer);
  function("_run", &run);
  function("_createThreads", &qkv::wasm::create_threads);
  function("_threadEntry", &qkv::wasm::thread_entry);
  function("_threadStack", +[](int worker) { return address_of(qkv::wasm::thread_stack(worker)); });
  function("_threadStackBytes", +[] { return qkv::wasm::kStackBytes; });
  function("_abandonThread", &qkv::wasm::abandon_thread);
  function("_abandonEntry", &qkv::wasm::abandon_entry);
  function("_stopThreads", &qkv::wasm::stop_threads);
}
