// Goal: machine code comes from a cache where it may, from the compiler where it must, and whatever is wrong
// with the cache, the compiler, or the source tree ends in a sentence, never in a crash. Method: small
// hand-written units stand in for emitted ones. They are compiled into a folder, which is then spoiled in
// every way that a disk, a neighbour, or an upgrade may; toolchains are made wrong one part at a time.
#include "procedures/native/native_code.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/file/trusted_folder.h"
#include "base/testing/test_open_files.h"
#include "base/testing/test_refusal.h"
#include "engine/schema/schema.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/native/compiled_units.h"
#include "procedures/native/emitter.h"
#include "procedures/testing/map_access.h"
#include "procedures/testing/test_program.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Two units: one tells a number, the other fails. Nothing is included, so that compiling takes no time:
// functions are declared with what native_abi.h's come down to (a reference is an address, a span is two
// words).
std::string text_of(size_t number) {
  return fmt::format(R"(
struct Span {{ const void* data; unsigned long size; }};
typedef bool (*Run)(void*);
typedef unsigned long (*Lookups)(const void*, Span);
struct Functions {{ Run run_on_transaction; Run run_on_any; Run run_on_replay; Lookups lookups[4]; }};
static bool complete(void*) {{ return true; }}
static bool fail(void*) {{ return false; }}
static unsigned long tell(const void*, Span) {{ return {}; }}
extern "C" {{
extern const Functions mneme_native_units[];
extern const unsigned mneme_native_unit_count;
const Functions mneme_native_units[] = {{{{&complete, &complete, nullptr, {{&tell}}}}, {{&fail, &fail, nullptr, {{}}}}}};
const unsigned mneme_native_unit_count = 2;
}}
)",
                     number);
}

size_t number_told_by(const NativeCode& code) {
  NativeRun run{};
  EXPECT_TRUE(code.unit(0).run_on_any(run));
  EXPECT_FALSE(code.unit(1).run_on_transaction(run));
  EXPECT_EQ(code.unit(1).lookups[0], nullptr);
  return code.unit(0).lookups[0]({}, {});
}

class NativeCodeTest : public testing::Test {
 protected:
  NativeCodeTest() : home_(testing::TempDir() + "native_code_XXXXXX") {
    CHECK(mkdtemp(home_.data()) != nullptr);
    folders_.keep = home_ + "/native";
    const Result<NativeToolchain> toolchain = NativeToolchain::of_this_program();
    CHECK(toolchain.ok());
    toolchain_ = *toolchain;
  }
  ~NativeCodeTest() override { fs::remove_all(home_); }

  Result<NativeCode> load(size_t number = 7) {
    return NativeCode::load(text_of(number), 2, folders_, toolchain_);
  }
  // Loads what must come from the cache, or must be compiled.
  NativeCode loaded(bool compiled, size_t number = 7) {
    Result<NativeCode> code = load(number);
    CHECK(code.ok());
    EXPECT_EQ(code->was_compiled(), compiled);
    EXPECT_EQ(number_told_by(*code), number);
    return *std::move(code);
  }
  std::string error(size_t number = 7) {
    const Result<NativeCode> code = load(number);
    EXPECT_FALSE(code.ok());
    return code.ok() ? "" : code.error().message;
  }
  std::vector<fs::path> files(const std::string& extension) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folders_.keep)) {
      if (entry.path().extension() == extension) found.push_back(entry.path());
    }
    return found;
  }
  fs::path only_object() const {
    const std::vector<fs::path> objects = files(".so");
    CHECK(objects.size() == 1);
    return objects[0];
  }
  // The cached file is spoiled: a notice names it, and it is compiled anew and used from then on.
  void expect_replaced(const fs::path& object) {
    const NativeCode code = loaded(/*compiled=*/true);
    EXPECT_THAT(code.notices(), testing::ElementsAre(HasSubstr(object.string())));
    EXPECT_TRUE(loaded(/*compiled=*/false).notices().empty());
  }
  void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
  // Copies the headers that machine code may include, and has the toolchain use the copy. Returns its folder.
  std::string copy_headers() {
    const fs::path tree = home_ + "/tree";
    for (const char* folder : {"base", "logging", "engine", "procedures"}) {
      for (const auto& entry :
           fs::recursive_directory_iterator(fs::path(toolchain_.source_directory) / folder)) {
        if (entry.path().extension() != ".h") continue;
        const fs::path copy = tree / entry.path().lexically_relative(toolchain_.source_directory);
        fs::create_directories(copy.parent_path());
        fs::copy(entry.path(), copy);
      }
    }
    toolchain_.source_directory = tree;
    return tree;
  }

  std::string home_;
  NativeFolders folders_;
  NativeToolchain toolchain_;
};

TEST_F(NativeCodeTest, IsCompiledOnceAndKeptWithItsText) {
  int compilations = 0;
  const auto count = [&] { ++compilations; };
  for (int i = 0; i < 3; ++i) {
    const Result<NativeCode> code = NativeCode::load(text_of(7), 2, folders_, toolchain_, count);
    ASSERT_TRUE(code.ok()) << code.error().message;
    EXPECT_EQ(code->was_compiled(), i == 0);
    EXPECT_EQ(number_told_by(*code), 7);
  }
  EXPECT_EQ(compilations, 1);
  EXPECT_EQ(files(".so").size(), 1u);
  EXPECT_EQ(files(".cc").size(), 1u);
  // Nothing else is left: no folder, no log.
  EXPECT_EQ(std::distance(fs::directory_iterator(folders_.keep), {}), 2);
}

// The headers that emitted text includes are found, and what it calls is in this program.
TEST_F(NativeCodeTest, IsBoundToTheProgram) {
  const std::string text = R"(
#include "procedures/interpreter/interpreter.h"
bool run_both(mneme::NativeRun& run) {
  mneme::Interpreter interpreter(*run.schema);
  *run.outcome = interpreter.run(mneme::RunRequest::of(*run.procedure, run.arguments, *run.rows));
  return run.outcome->completed();
}
extern "C" {
extern const mneme::NativeFunctions mneme_native_units[];
extern const uint32_t mneme_native_unit_count;
const mneme::NativeFunctions mneme_native_units[] = {{&run_both, &run_both, nullptr}};
const uint32_t mneme_native_unit_count = 1;
}
)";
  const Result<NativeCode> code = NativeCode::load(text, 1, folders_, toolchain_);
  ASSERT_TRUE(code.ok()) << code.error().message;
  const auto program =
      compile(std::string(kTestSchema) +
                  "CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'seen'; END $$;",
              "test.sql");
  ASSERT_TRUE(program.ok()) << program.error().message;
  const Schema schema((*program)->catalog);
  MapAccess rows(schema);
  RunRequest request = RunRequest::of((*program)->procedures[0], {}, rows);
  request.native = code->unit(0).run_on_any;
  Interpreter interpreter(schema);
  const Outcome outcome = interpreter.run(request);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kRaised);
  EXPECT_STREQ(outcome.sqlstate, "P0001");
}

// Code that is long and not deep for the interpreter is not deep for the compiler either.
TEST_F(NativeCodeTest, CompilesListsAndChainsOfHundreds) {
  std::string list = "0";
  std::string cases;
  std::string branches = "r = -1 THEN r := 1; ";
  std::string chain = "r = -1";
  std::string nulls;
  for (int i = 1; i < 600; ++i) {
    list += fmt::format(", {}{}", i, i % 2 == 0 ? "" : ".0");
    cases += fmt::format(" WHEN r = {} THEN r + {}", i, 2 * i);
    chain += fmt::format(" OR r = {}", i);
    if (i < 90) nulls += "NULL, ";
    if (i < 450) branches += fmt::format("ELSIF r = {} THEN r := -1; ", 1000 + i);
  }
  const auto program =
      compile(fmt::format("{}CREATE PROCEDURE p(INOUT r INT) LANGUAGE plpgsql AS $$ BEGIN IF r IN ({}) AND "
                          "({}) THEN r := CASE{} ELSE 0 END; "
                          "IF {}ELSE r := r + 1; END IF; END IF; r := coalesce({}r); END $$;",
                          kTestSchema, list, chain, cases, branches, nulls),
              "test.sql");
  ASSERT_TRUE(program.ok()) << program.error().message;
  const Schema schema((*program)->catalog);
  const std::vector<NativeUnit> units = procedure_units(**program);
  const Result<NativeCode> code =
      NativeCode::load(emit_cpp(**program, schema, units), units.size(), folders_, toolchain_);
  ASSERT_TRUE(code.ok()) << code.error().message;
  MapAccess rows(schema);
  const std::vector<Argument> arguments = {Argument::of(Value::of_int(300))};
  RunRequest request = RunRequest::of((*program)->procedures[0], arguments, rows);
  for (const bool native : {false, true}) {
    request.native = native ? code->unit(0).run_on_any : nullptr;
    Interpreter interpreter(schema);
    EXPECT_TRUE(interpreter.run(request).completed());
    EXPECT_EQ(interpreter.results()[0].scalar.as_int(), 901);
  }
}

// Each kind of loop would run for days. The deadline is over once the run has begun.
TEST_F(NativeCodeTest, LoopsEndWhereTheyAreAskedToStop) {
  std::string text = kTestSchema;
  const std::vector<std::string> loops = {
      "FOR i IN 1 .. 2000000000 LOOP FOR j IN 1 .. 2000000000 LOOP r := i % 7; END LOOP; END LOOP;",
      "WHILE r >= 0 LOOP r := (r + 1) % 1000; END LOOP;",
      "LOOP r := (r + 1) % 1000; EXIT WHEN r < 0; END LOOP;"};
  for (size_t i = 0; i < loops.size(); ++i) {
    text +=
        fmt::format("CREATE PROCEDURE p{}(INOUT r INT) LANGUAGE plpgsql AS $$ BEGIN {} END $$;", i, loops[i]);
  }
  const auto program = compile(text, "test.sql");
  ASSERT_TRUE(program.ok()) << program.error().message;
  const Schema schema((*program)->catalog);
  const std::vector<NativeUnit> units = procedure_units(**program);
  const Result<NativeCode> code =
      NativeCode::load(emit_cpp(**program, schema, units), units.size(), folders_, toolchain_);
  ASSERT_TRUE(code.ok()) << code.error().message;
  MapAccess rows(schema);
  const std::vector<Argument> arguments = {Argument::of(Value::of_int(0))};
  for (size_t i = 0; i < loops.size(); ++i) {
    for (const bool native : {false, true}) {
      SCOPED_TRACE(loops[i] + (native ? " native" : " interpreted"));
      StopRequest stop;
      RunRequest request = RunRequest::of((*program)->procedures[i], arguments, rows);
      request.native = native ? code->unit(i).run_on_any : nullptr;
      request.stop = &stop;
      Interpreter interpreter(schema);
      stop.set_deadline(monotonic_ns() + 20'000'000);
      const Outcome outcome = interpreter.run(request);
      EXPECT_EQ(outcome.kind, Outcome::Kind::kStopped);
      EXPECT_STREQ(outcome.sqlstate, "57014");
      EXPECT_EQ(outcome.message, "canceling statement due to statement timeout");
    }
  }
}

TEST_F(NativeCodeTest, OtherTextsCompilersAndFlagsAreOtherObjects) {
  loaded(/*compiled=*/true, 7);
  loaded(/*compiled=*/true, 8);
  toolchain_.flags.push_back("-fno-strict-aliasing");
  loaded(/*compiled=*/true, 7);
  EXPECT_EQ(files(".so").size(), 3u);
  loaded(/*compiled=*/false, 7);
}

TEST_F(NativeCodeTest, IsTakenFromAFolderThatIsOnlyRead) {
  loaded(/*compiled=*/true);
  NativeFolders reading;
  reading.look = {home_ + "/missing", folders_.keep};
  std::swap(folders_, reading);
  loaded(/*compiled=*/false);
}

TEST_F(NativeCodeTest, NothingIsLeftWhereNoFolderKeepsIt) {
  folders_.keep.clear();
  const std::string temporary = home_ + "/tmp";
  fs::create_directory(temporary);
  setenv("TMPDIR", temporary.c_str(), 1);
  loaded(/*compiled=*/true);
  EXPECT_TRUE(fs::is_empty(temporary));
  unsetenv("TMPDIR");
}

TEST_F(NativeCodeTest, WhatWasUsedLongestAgoMakesRoom) {
  folders_.most_kept = 2;
  const auto an_hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  const auto age = [&] {
    for (const fs::path& object : files(".so")) fs::last_write_time(object, an_hour_ago);
  };
  loaded(/*compiled=*/true, 7);
  age();
  loaded(/*compiled=*/true, 8);
  age();
  loaded(/*compiled=*/false, 7);
  loaded(/*compiled=*/true, 9);
  EXPECT_EQ(files(".so").size(), 2u);
  EXPECT_EQ(files(".cc").size(), 2u);
  loaded(/*compiled=*/false, 7);
  loaded(/*compiled=*/false, 9);
  loaded(/*compiled=*/true, 8);
}

TEST_F(NativeCodeTest, IsCompiledForOnceWhereNoFolderCanBeMade) {
  write(home_ + "/file", "in the way");
  folders_.keep = home_ + "/file/native";
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(loaded(/*compiled=*/true).notices(),
                testing::ElementsAre(HasSubstr("cannot make the folder")));
  }
  // A folder that is there, in which there can be no other.
  folders_.keep = "/proc/self";
  EXPECT_THAT(loaded(/*compiled=*/true).notices(),
              testing::ElementsAre(HasSubstr("cannot make a folder in /proc/self: ")));
}

TEST_F(NativeCodeTest, TheUsersFolderIsWhereTheEnvironmentSays) {
  const char* const home = std::getenv("HOME");
  const std::string former = home == nullptr ? "" : home;
  setenv("XDG_CACHE_HOME", "/tmp/cache", 1);
  EXPECT_EQ(NativeFolders::of_user(), "/tmp/cache/mneme/native");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(NativeFolders::of_user(), "/home/somebody/.cache/mneme/native");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(NativeFolders::of_user(), "");
  if (!former.empty()) setenv("HOME", former.c_str(), 1);
}

TEST_F(NativeCodeTest, ATruncatedObjectIsReplaced) {
  loaded(/*compiled=*/true);
  const fs::path object = only_object();
  for (const uintmax_t size :
       {fs::file_size(object) - 1, fs::file_size(object) / 2, uintmax_t{20}, uintmax_t{0}}) {
    fs::resize_file(object, size);
    expect_replaced(object);
  }
}

TEST_F(NativeCodeTest, ADamagedObjectIsReplaced) {
  loaded(/*compiled=*/true);
  const fs::path object = only_object();
  const auto middle = static_cast<std::streamoff>(fs::file_size(object) / 2);
  std::fstream file(object, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(middle);
  const int byte = file.get();
  file.seekp(middle);
  file.put(static_cast<char>(byte ^ 0x10));
  file.close();
  expect_replaced(object);
}

TEST_F(NativeCodeTest, AForeignFileIsReplaced) {
  loaded(/*compiled=*/true);
  const fs::path object = only_object();
  write(object, "Dear diary, today I learnt about shared objects.\n");
  expect_replaced(object);
}

// Sealed, so that the seal is right and the content is not.
TEST_F(NativeCodeTest, ASealedFileThatCannotBeLoadedIsReplaced) {
  loaded(/*compiled=*/true);
  const fs::path object = only_object();
  fs::remove(object);
  write(object, "no ELF at all, but with a seal");
  ASSERT_TRUE(NativeObject::seal(object).ok());
  expect_replaced(object);
}

TEST_F(NativeCodeTest, AnObjectUnderAnothersNameIsReplaced) {
  loaded(/*compiled=*/true, 7);
  const fs::path object = only_object();
  const std::string kept = folders_.keep;
  folders_.keep = home_ + "/other";
  loaded(/*compiled=*/true, 8);
  fs::copy_file(only_object(), object, fs::copy_options::overwrite_existing);
  folders_.keep = kept;
  expect_replaced(object);
}

TEST_F(NativeCodeTest, AnObjectThatOthersMayWriteIsReplaced) {
  loaded(/*compiled=*/true);
  const fs::path object = only_object();
  fs::permissions(object, fs::perms::group_write, fs::perm_options::add);
  expect_replaced(object);
  const fs::path moved = home_ + "/moved.so";
  fs::rename(object, moved);
  fs::create_symlink(moved, object);
  expect_replaced(object);
}

TEST_F(NativeCodeTest, NothingIsLoadedFromOrKeptInAFolderThatOthersMayWriteTo) {
  loaded(/*compiled=*/true);
  fs::permissions(folders_.keep, fs::perms::all);
  EXPECT_THAT(loaded(/*compiled=*/true).notices(),
              testing::ElementsAre(HasSubstr("other users may write to " + folders_.keep)));
  folders_.look = {folders_.keep};
  folders_.keep.clear();
  EXPECT_THAT(loaded(/*compiled=*/true).notices(),
              testing::ElementsAre(HasSubstr("was not used: other users may write to ")));
}

TEST_F(NativeCodeTest, WhatIsKeptIsTheUsersAloneWhateverTheUmask) {
  for (const mode_t mask : {0, 0777}) {
    const mode_t before = umask(mask);
    loaded(/*compiled=*/true, 10 + mask);
    loaded(/*compiled=*/false, 10 + mask);
    umask(before);
  }
  EXPECT_EQ(fs::status(folders_.keep).permissions(), fs::perms::owner_all);
  for (const auto& entry : fs::directory_iterator(folders_.keep)) {
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write) << entry.path();
  }
}

TEST_F(NativeCodeTest, WhatAKilledCompilationLeftIsRemoved) {
  loaded(/*compiled=*/true);
  const std::string left = folders_.keep + "/compiling-left";
  const auto leave = [&] {
    fs::create_directory(left);
    write(left + "/procedures.cc", "half of it");
  };
  leave();
  loaded(/*compiled=*/false);
  EXPECT_FALSE(fs::exists(left));
  leave();
  {
    // As one does that compiles there.
    const Result<File> other = File::open(folders_.keep, O_RDONLY | O_DIRECTORY);
    ASSERT_TRUE(other.ok());
    ASSERT_EQ(flock(other->descriptor(), LOCK_SH), 0);
    remove_abandoned_compilations(folders_.keep);
    EXPECT_TRUE(fs::exists(left));
  }
  remove_abandoned_compilations(folders_.keep);
  EXPECT_FALSE(fs::exists(left));
  remove_abandoned_compilations(home_ + "/none");
  EXPECT_FALSE(fs::exists(home_ + "/none"));
}

// Other users' headers would be compiled in place of the system's.
TEST_F(NativeCodeTest, HeadersThatOthersMayWriteAreNotUsed) {
  const std::string tree = copy_headers();
  EXPECT_TRUE(toolchain_.check().ok());
  for (const std::string& folder : {tree, tree + "/engine", tree + "/engine/table"}) {
    fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
    test::expect_refused(toolchain_.check(), ErrorKind::kFailed, "other users may write to " + folder);
    fs::permissions(folder, fs::perms::others_write, fs::perm_options::remove);
  }
}

TEST_F(NativeCodeTest, TheRuntimeIsPrecompiledOnceAndUsedUnlessOthersMayWriteIt) {
  if (toolchain_.version.find("clang") != std::string::npos) return;  // which looks for none
  toolchain_.precompiled = home_ + "/precompiled";
  toolchain_.flags.push_back("-fno-such-flag");
  test::expect_refused(toolchain_.precompile(), ErrorKind::kFailed,
                       "made no precompiled header in " + toolchain_.precompiled);
  toolchain_.flags.pop_back();
  ASSERT_TRUE(toolchain_.precompile().ok());
  const fs::path header = toolchain_.precompiled + "/procedures/native/native_runtime.h.gch";
  const auto made = fs::last_write_time(header);
  EXPECT_TRUE(toolchain_.precompile().ok());
  EXPECT_EQ(fs::last_write_time(header), made);

  toolchain_.flags.push_back(
      "-H");  // names each header that is read, and marks the precompiled one that is used by "!"
  fs::create_directory(home_ + "/compiled");
  fs::permissions(home_ + "/compiled", fs::perms::owner_all);
  const Result<File> work = open_trusted_folder(home_ + "/compiled");
  ASSERT_TRUE(work.ok());
  write(home_ + "/compiled/text.cc", "#include \"procedures/native/native_runtime.h\"\n" + text_of(7));
  const auto headers_read = [&](const std::string& log) {
    EXPECT_TRUE(toolchain_.compile(*work, "text.cc", "text.so", log).ok());
    return *read_text_file(home_ + "/compiled/" + log);
  };
  EXPECT_THAT(headers_read("first"), HasSubstr("! " + header.string()));
  fs::permissions(header, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(headers_read("second"), testing::Not(HasSubstr(header.string())));
}

TEST_F(NativeCodeTest, AnObjectWithoutTheSymbolsIsRefused) {
  const Result<NativeCode> code = NativeCode::load("int nothing;\n", 2, folders_, toolchain_);
  ASSERT_FALSE(code.ok());
  EXPECT_THAT(code.error().message, HasSubstr("holds no procedures"));
}

TEST_F(NativeCodeTest, AnObjectThatNeedsWhatTheProgramLacksIsRefused) {
  const std::string text = "int missing_function();\nint needs_it = missing_function();\n" + text_of(7);
  const Result<NativeCode> code = NativeCode::load(text, 2, folders_, toolchain_);
  ASSERT_FALSE(code.ok());
  EXPECT_THAT(code.error().message, HasSubstr("missing_function"));
}

TEST_F(NativeCodeTest, AWrongNumberOfUnitsIsRefused) {
  EXPECT_FALSE(NativeCode::load(text_of(7), 3, folders_, toolchain_).ok());
}

TEST_F(NativeCodeTest, ACompilerThatIsNotThereIsTold) {
  toolchain_.compiler = "/nonexistent/c++";
  EXPECT_THAT(error(), testing::AllOf(HasSubstr("/nonexistent/c++"), HasSubstr("install it")));
}

TEST_F(NativeCodeTest, AnUpgradedCompilerIsTold) {
  toolchain_.version = "c++ 1.0";
  EXPECT_THAT(error(), testing::AllOf(HasSubstr("c++ 1.0"), HasSubstr("build the program anew")));
}

TEST_F(NativeCodeTest, ATextThatDoesNotCompileLeavesItsLog) {
  const Result<NativeCode> code = NativeCode::load("this is no C++;\n", 2, folders_, toolchain_);
  ASSERT_FALSE(code.ok());
  const std::string& message = code.error().message;
  const std::string log = message.substr(message.rfind(' ') + 1);
  const Result<std::string> said = read_text_file(log);
  ASSERT_TRUE(said.ok()) << message;
  EXPECT_THAT(*said, HasSubstr("error"));
  EXPECT_TRUE(files(".so").empty());
}

TEST_F(NativeCodeTest, ChangedHeadersAreToldAndWhatIsCachedIsStillUsed) {
  loaded(/*compiled=*/true, 7);
  const std::string tree = copy_headers();
  loaded(/*compiled=*/true, 8);
  std::ofstream(tree + "/engine/index/row.h", std::ios::app) << "// one more line\n";
  EXPECT_THAT(error(9), testing::AllOf(HasSubstr(tree), HasSubstr("changed"), HasSubstr("build it anew")));
  loaded(/*compiled=*/false, 8);
  fs::remove_all(tree);
  EXPECT_THAT(error(9), HasSubstr("put the source tree back"));
  loaded(/*compiled=*/false, 8);
}

TEST_F(NativeCodeTest, TheEnvironmentNamesAnotherCompiler) {
  setenv("MNEME_CXX", "/nonexistent/c++", 1);
  const Result<NativeToolchain> none = NativeToolchain::of_this_program();
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, testing::AllOf(HasSubstr("MNEME_CXX"), HasSubstr("/nonexistent/c++")));

  const std::string wrapper = home_ + "/my-compiler";
  write(wrapper, "#!/bin/sh\nexec " + toolchain_.compiler + " \"$@\"\n");
  fs::permissions(wrapper, fs::perms::owner_all);
  setenv("MNEME_CXX", wrapper.c_str(), 1);
  const Result<NativeToolchain> other = NativeToolchain::of_this_program();
  unsetenv("MNEME_CXX");
  ASSERT_TRUE(other.ok()) << other.error().message;
  EXPECT_EQ(other->compiler, wrapper);
  toolchain_ = *other;
  loaded(/*compiled=*/true);
}

TEST_F(NativeCodeTest, AKilledCompilerIsTold) {
  const std::string killed = home_ + "/killed-compiler";
  write(killed, "#!/bin/sh\n[ \"$1\" = --version ] && echo mine && exit 0\nkill -9 $$\n");
  fs::permissions(killed, fs::perms::owner_all);
  toolchain_.compiler = killed;
  toolchain_.version = "mine";
  EXPECT_THAT(error(), HasSubstr("status 137"));
}

TEST_F(NativeCodeTest, ACompilerThatTellsNoVersionIsTold) {
  const std::string mute = home_ + "/mute-compiler";
  write(mute, "#!/bin/sh\nexit 3\n");
  fs::permissions(mute, fs::perms::owner_all);
  toolchain_.compiler = mute;
  test::expect_refused(toolchain_.check(), ErrorKind::kFailed,
                       mute + " --version ends with status 3; install it");
}

TEST_F(NativeCodeTest, ACompilerThatCannotBeListenedToIsTold) {
  const test::NoOpenFiles none;
  test::expect_refused(toolchain_.check(), ErrorKind::kFailed,
                       "cannot make a pipe: Too many open files; install it");
}

TEST_F(NativeCodeTest, TwoProcessesCompileAtOnce) {
  const auto child = [&] {
    const pid_t pid = fork();
    if (pid == 0) {
      const Result<NativeCode> code = load();
      _exit(code.ok() && number_told_by(*code) == 7 ? 0 : 1);
    }
    return pid;
  };
  const pid_t children[] = {child(), child()};
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  loaded(/*compiled=*/false);
}

}  // namespace
}  // namespace mneme
