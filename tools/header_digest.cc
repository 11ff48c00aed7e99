// Prints the digest of a source tree's headers as a C string literal: the build bakes it into the program,
// which compiles procedures only against the same headers (procedures/native/native_headers.h).
//
// usage: header_digest SOURCE_DIRECTORY > native_header_digest.inc
#include <cstdio>

#include "procedures/native/native_headers.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: header_digest SOURCE_DIRECTORY\n", stderr);
    return 2;
  }
  const mneme::Result<std::string> digest = mneme::digest_of_headers(argv[1]);
  if (!digest.ok()) {
    std::fprintf(stderr, "header_digest: %s\n", digest.error().message.c_str());
    return 1;
  }
  std::printf("\"%s\"\n", digest->c_str());
  return 0;
}
