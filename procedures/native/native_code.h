// NativeCode: the machine code of procedures: found in a cache, or compiled, and loaded.
//
// Flow        emitter.h writes C++ for units -> load(): an object of the same text, headers, compiler and
//             flags from a folder -> or the system's compiler makes one, kept in a folder -> dlopen ->
//             functions by unit
// Cache       one file an object, named by the key (native_object.h), the C++ beside it, to be read. Files
//             are complete before they get their name, so any number of processes may share a folder.
// Trust       an object is code that this process runs. So it is taken only from folders and files that no
//             other user could write (trusted_folder.h), compiled in a folder of mode 0700, and loaded from
//             the descriptor that was checked.
// Errors      a sentence; the caller shows it and goes on interpreting: machine code is never needed. What is
//             wrong with a cached file that could be replaced by compiling anew is a notice, and so is a
//             folder that can't keep it.
// Threads     load(): any. Constant once made.
// Source      Diaconu et al., Hekaton (SIGMOD'13), section 4: procedures compiled to C, then by the system's
//             compiler.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "procedures/interpreter/native_abi.h"
#include "procedures/native/native_object.h"
#include "procedures/native/native_toolchain.h"

namespace mneme {

// Where objects are looked for, in this order: `keep`, then `look`.
struct NativeFolders {
  // is made, and gets what is compiled; empty, or not to be trusted: compiled into a folder that is removed
  std::string keep;
  std::vector<std::string> look;  // are only read, and need not exist
  // Objects in `keep`: what was used longest ago makes room.
  size_t most_kept = std::numeric_limits<size_t>::max();
  // Gets a copy of what is compiled, where it can have one, so that another directory need not compile the
  // same; at most `most_shared` objects. Usually one of `look` as well. Empty: none.
  std::string share = {};
  size_t most_shared = std::numeric_limits<size_t>::max();

  // The one beside the program, in which its build leaves the objects of the workloads; of an installed one,
  // ../lib/mneme/native.
  static std::string of_program();
  // The user's, for what has no place of its own: below XDG_CACHE_HOME, or .cache at home. Empty where
  // neither is known.
  static std::string of_user();
};

// Removes what compilations into the folder left that a kill ended, unless a process uses the folder just
// now.
void remove_abandoned_compilations(const std::string& folder);

class NativeCode {
 public:
  // `text` is emit_cpp()'s for `unit_count` units. `compiling` is called before the compiler is. A stop ends
  // the compiler, and load() fails.
  static Result<NativeCode> load(const std::string& text, size_t unit_count, const NativeFolders& folders,
                                 const NativeToolchain& toolchain,
                                 const std::function<void()>& compiling = {},
                                 const std::stop_token& stop = {});
  // As load(), but returns nullopt where it would have to compile.
  static std::optional<NativeCode> find(const std::string& text, size_t unit_count,
                                        const NativeFolders& folders, const NativeToolchain& toolchain);

  const NativeFunctions& unit(size_t index) const { return object_.units()[index]; }
  std::span<const NativeFunctions> units() const { return object_.units(); }
  // The name of the object's file and of its C++, less the extension.
  std::string file_name() const { return key_.to_string(); }
  bool was_compiled() const { return was_compiled_; }  // by this load(), that is
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  NativeCode(NativeObject object, const NativeKey& key, bool was_compiled, std::vector<std::string> notices)
      : object_(std::move(object)), key_(key), was_compiled_(was_compiled), notices_(std::move(notices)) {}

  NativeObject object_;
  NativeKey key_;
  bool was_compiled_;
  std::vector<std::string> notices_;
};

}  // namespace mneme
