// NativeBuild: what CMake knew when it built this program, for compiling procedures later in the same way.
#pragma once

namespace mneme {

struct NativeBuild {
  const char* compiler;
  const char* compiler_version;  // the first line of what `compiler --version` prints
  const char* flags;             // separated by spaces
  const char* source_directory;
  const char* installed_headers;  // where `cmake --install` without a prefix of its own leaves them
  // the build's folder of them: each lies in one that is named by what it was made of
  const char* precompiled_headers;
  const char* header_digest;  // native_headers.h
};

extern const NativeBuild kNativeBuild;  // native_build.cc.in

}  // namespace mneme
