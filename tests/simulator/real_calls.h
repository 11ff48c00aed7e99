// The C library's own calls, behind those that the simulator defines anew.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <string_view>

namespace mneme::simulator {

// Condition variables have older versions by the same names: not those.
template <typename Function>
Function* real(const char* name) {
  static_assert(sizeof(Function*) == sizeof(void*));
  void* found = nullptr;
#if defined(__x86_64__)
  if (std::string_view(name).starts_with("pthread_cond_")) found = ::dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
#endif
  if (found == nullptr) found = ::dlsym(RTLD_NEXT, name);
  return reinterpret_cast<Function*>(found);
}

}  // namespace mneme::simulator

// REAL(close)(descriptor), looked up once.
#define REAL(name)                                                             \
  ([] {                                                                        \
    static const auto found = ::mneme::simulator::real<decltype(name)>(#name); \
    return found;                                                              \
  }())

namespace mneme::simulator {

// These go below the C library, so that no simulated call is called back.
template <typename... Arguments>
long system_call(long number, Arguments... arguments) {
  return REAL(syscall)(number, arguments...);
}

}  // namespace mneme::simulator
