// In the place of functions of the C library that would call JavaScript: a module imports its memory and what embind
// registers with, and nothing else.

extern "C" {

/// A page has no environment.
char* getenv(const char* /*name*/) { return nullptr; }

void abort() { __builtin_trap(); }

/// What the allocator calls while another thread is in it, which no task of the core is.
int sched_yield() { return 0; }

}  // extern "C"
