// What the laboratory's module leaves out of the engine, and what it says where that is asked for.
#include <cstdlib>
#include <utility>

#include "base/file/trusted_folder.h"
#include "base/memory/available_memory.h"
#include "base/memory/numa_memory.h"
#include "logging/device/uring_queue.h"
#include "logging/nvm/passive_group_commit.h"
#include "logging/nvm/persistent_memory.h"
#include "procedures/native/native_code.h"

namespace mneme {

bool prefer_node(void*, size_t, uint32_t) {
  return false;
}
void interleave_nodes(void*, size_t) {}

Result<std::unique_ptr<UringQueue>> UringQueue::open(const UringOptions&) {
  return failed("there is no io_uring here");
}
UringQueue::~UringQueue() = default;
Result<void> UringQueue::register_memory(std::span<std::byte>) {
  return {};
}
int UringQueue::attach(int) {
  std::abort();
}
void UringQueue::detach(int) {}
void UringQueue::submit(const IoChain&) {
  std::abort();
}
void UringQueue::wait(std::chrono::nanoseconds, std::vector<IoCompletion>&) {}
void UringQueue::wake() {}

Result<std::unique_ptr<PersistentMemory>> PersistentMemory::map(const File&, const PersistentMemoryOptions&) {
  return failed("there is no persistent memory here");
}
PersistentMemory::~PersistentMemory() = default;
void PersistentMemory::harden(size_t, size_t) {
  std::abort();
}
void PersistentMemory::delay() const {
  std::abort();
}
void PersistentMemory::fence() {}
void PersistentMemory::drain(size_t, size_t) {
  std::abort();
}
void PersistentMemory::store_in_cache(size_t, const std::byte*) {
  std::abort();
}

NativeObject::NativeObject(NativeObject&& other) noexcept = default;
NativeObject& NativeObject::operator=(NativeObject&& other) noexcept = default;
NativeObject::~NativeObject() = default;
std::string NativeFolders::of_program() {
  return {};
}
std::string NativeFolders::of_user() {
  return {};
}
void remove_abandoned_compilations(const std::string&) {}
Result<NativeCode> NativeCode::load(const std::string&, size_t, const NativeFolders&, const NativeToolchain&,
                                    const std::function<void()>&, const std::stop_token&) {
  return failed("there is no compiler here");
}
std::optional<NativeCode> NativeCode::find(const std::string&, size_t, const NativeFolders&,
                                           const NativeToolchain&) {
  return std::nullopt;
}
Result<NativeToolchain> NativeToolchain::of_this_program() {
  return failed("there is no compiler here");
}

// A log of streams in persistent memory is refused before it asks for this.
PassiveGroupCommit::PassiveGroupCommit(PassiveGroupCommitOptions options)
    : options_(std::move(options)), counter_(Lsn{}) {
  std::abort();
}
PassiveGroupCommit::~PassiveGroupCommit() = default;
Lsn PassiveGroupCommit::draw(WorkerId) {
  std::abort();
}
void PassiveGroupCommit::stored(WorkerId, PersistentMemory&, size_t, size_t) {
  std::abort();
}
void PassiveGroupCommit::settled(WorkerId, Lsn, RecordKind) {
  std::abort();
}
Lsn PassiveGroupCommit::durable() const {
  std::abort();
}
bool PassiveGroupCommit::await(Lsn) {
  std::abort();
}
void PassiveGroupCommit::fail() {}
PassiveGroupCommitCounters PassiveGroupCommit::counters() const {
  return {};
}

// Machine code would lie in such a folder.
Result<File> open_trusted_folder(const std::string&, const FolderTrust&) {
  return failed("there is no machine code here");
}
std::optional<size_t> available_memory_bytes(const std::filesystem::path&) {
  return std::nullopt;
}

}  // namespace mneme
