// NativeToolchain: what compiles the machine code of procedures: a compiler, its flags, and the headers it
// reads.
//
// Flow        of_this_program() -> (an object of this toolchain is in a cache: nothing more) -> check() ->
//             compile()
// Invariants  an object is compiled with the flags, sanitizers included, and against the headers that the
//             program itself was built with; anything else would misread the program's rows.
// Errors      no compiler, another one than the program was built with, changed headers, a text that does not
//             compile: a sentence that says which, where, and what to do.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"

namespace mneme {

struct NativeToolchain {
  std::string compiler;
  std::string version;  // the first line of what `compiler --version` prints
  std::vector<std::string> flags;
  std::string source_directory;  // that has the headers, in folders as the source tree's
  std::string header_digest;     // native_headers.h
  // Where the precompiled runtime of machine code lies, if it has been made: it saves most of the time that a
  // short text takes. The compiler ignores it where it does not fit, and the headers are read in its place.
  std::string precompiled;
  // NAME=value each: what the compiler finds in its environment. It is copied here because a compiler may run
  // while the program changes its own.
  std::vector<std::string> environment;

  // The toolchain that this program was built with, except that the environment's MNEME_CXX may name another
  // compiler. Its headers: where MNEME_HEADERS says, beside the program where it was installed
  // (../include/mneme), in the source tree, where others are installed.
  static Result<NativeToolchain> of_this_program();

  // Whether compiler and headers still are what this says.
  Result<void> check() const;
  // Makes the precompiled runtime, for the effective user. Does nothing where it is there, and for a compiler
  // other than GCC.
  Result<void> precompile() const;
  // Makes a shared object of a C++ text. The three are names in the folder, in which the compiler runs, and
  // has its temporary files: no other user may write to it. What the compiler prints goes to `log`. A stop
  // kills the compiler and what it has started, and compile() fails once the compiler has ended.
  Result<void> compile(const File& folder, const std::string& source, const std::string& object,
                       const std::string& log, const std::stop_token& stop = {}) const;
};

}  // namespace mneme
