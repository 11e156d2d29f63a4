// How the sanitizers behave, linked into every suite that has them.

/// Requests too large to serve return null, as they do without the sanitizer. What was given back is kept, so
/// that its use is noticed, up to 16 MB: the refusals ask for many thousand small arrays, and 32 bits
/// have no room for the usual 256 MB of them beside the sanitizer's own.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
#ifdef __EMSCRIPTEN__
  // Where each request came from costs a call of JavaScript, and the suite then takes more than half an hour.
  return "allocator_may_return_null=1:quarantine_size_mb=16:malloc_context_size=0";
#else
  return "allocator_may_return_null=1:quarantine_size_mb=16";
#endif
}

/// The same of requests.
extern "C" const char* __tsan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "allocator_may_return_null=1";
}
