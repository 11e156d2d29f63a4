// In the place of functions of the C library that would call JavaScript: a module imports its memory and what embind
// registers with, and nothing else.

extern "C" {

/// A page has no environment.
char* getenv(const char* /*name*/) { return nullptr; }

void abort() { __builtin_trap(); }

// What the allocator and other locks call while another thread holds them, which no task of the core does.
int sched_yield() { return 0; }
/// Weak, because the C library of some releases of Emscripten has one of its own that calls nothing.
[[gnu::weak]] int emscripten_futex_wait(volatile void* /*address*/, unsigned /*value*/,
                                        double /*ms*/) {
  return 0;
}

}  // extern "C"
