// Calls of stored procedures, Smallbank's, one after the other through a session: the call checked and
// encoded, its procedure run as machine code or interpreted, the transaction committed. The log only draws
// LSNs; customers come without a hotspot.
//
// Unit        nanoseconds a call, the making of the call (call_generator alone) included.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <memory>
#include <string>

#include "base/check.h"
#include "bench/benchmarks.h"
#include "logging/commit/order_log.h"
#include "procedures/native/compiled_units.h"
#include "procedures/session/session.h"
#include "workloads/shared/load.h"
#include "workloads/workload_table.h"

namespace mneme::bench {
namespace {

// 18,000 customers each: a scale for about as many as there are entries.
uint32_t scale_of(const Sizes& sizes) {
  return static_cast<uint32_t>(std::max<uint64_t>(1, sizes.entries / 18'000));
}

class Bank {
 public:
  explicit Bank(uint32_t scale) : log_(kFirstLsn), scale_(scale) {
    const std::unique_ptr<Workload> workload = make("default");
    auto compiled = compile(workload->sql(), "smallbank.sql");
    CHECK(compiled.ok());
    program_ = *std::move(compiled);
    database_ = std::make_unique<Database>(program_->catalog, 2);
    CHECK(load(*workload, *database_, 1, [](uint32_t, uint32_t) {}).ok());
    database_->attach_log(log_);
    interpreted_ = std::make_unique<Session>(*program_, *database_, WorkerId{0});
    machine_code_ = CompiledUnits::load(*program_, database_->schema(), procedure_units(*program_),
                                        {"", {NativeFolders::of_program()}});
    if (machine_code_.execution() == Execution::kInterpreted) return;
    SessionOptions options;
    options.native = machine_code_.functions();
    native_ = std::make_unique<Session>(*program_, *database_, WorkerId{1}, options);
  }

  std::unique_ptr<CallGenerator> calls(const std::string& mix) const { return make(mix)->generator({}); }
  // nullptr: there is no machine code, and why_not_native() says why.
  Session* session(Execution execution) {
    return execution == Execution::kNative ? native_.get() : interpreted_.get();
  }
  std::string why_not_native() const { return fmt::format("{}", fmt::join(machine_code_.notices(), "; ")); }

 private:
  std::unique_ptr<Workload> make(const std::string& mix) const {
    auto workload = make_workload("smallbank", {{.scale = scale_, .mix = mix}, {.percent = 0}});
    CHECK(workload.ok());
    return *std::move(workload);
  }

  OrderLog log_;
  const uint32_t scale_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Database> database_;
  CompiledUnits machine_code_;
  std::unique_ptr<Session> interpreted_;
  std::unique_ptr<Session> native_;
};

void run_calls(benchmark::State& state, Bank& bank, const std::string& mix, Execution execution) {
  Session* const session = bank.session(execution);
  if (session == nullptr) return state.SkipWithError(bank.why_not_native().c_str());
  const auto calls = bank.calls(mix);
  uint64_t position = 0;
  for (auto _ : state) {
    const CallResult result = session->run(calls->call(position++));
    CHECK(result.committed() || result.status == CallResult::Status::kRolledBack);
  }
}

void make_calls(benchmark::State& state, Bank& bank, const std::string& mix) {
  const auto calls = bank.calls(mix);
  uint64_t position = 0;
  for (auto _ : state) CHECK(!calls->call(position++).arguments.empty());
}

}  // namespace

void register_procedure(const Sizes& sizes) {
  const auto bank = std::make_shared<std::unique_ptr<Bank>>();
  const auto add = [&](const std::string& name, const std::function<void(benchmark::State&, Bank&)>& run) {
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      if (*bank == nullptr) *bank = std::make_unique<Bank>(scale_of(sizes));
      run(state, **bank);
    });
  };
  add("procedure/call_generator",
      [](benchmark::State& state, Bank& bank) { make_calls(state, bank, "default"); });
  for (const Execution execution : {Execution::kInterpreted, Execution::kNative}) {
    for (const char* procedure : {"balance", "deposit_checking", "send_payment", "amalgamate"}) {
      add(fmt::format("procedure/{}/{}", name_of(execution), procedure),
          [=](benchmark::State& state, Bank& bank) {
            run_calls(state, bank, fmt::format("{}=100", procedure), execution);
          });
    }
  }
}

}  // namespace mneme::bench
