// How the sanitizers behave, linked into every suite that has them.

/// Requests too large to serve return null, as they do without the sanitizer.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "allocator_may_return_null=1";
}
