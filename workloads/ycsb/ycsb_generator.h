// YCSB's calls: the operations of one of the core workloads A to F, on records chosen by a Zipfian
// distribution.
//
// Inserts     evenly spread: call number p of a stream is one exactly if the share of inserts in p + 1 calls
//             reaches a whole number that it had not reached in p. So how many the stream has made before any
//             call is known at once, and with it the keys that are certainly there.
// Choice      A, B, C, E, F: among the population's records, the popular ones scattered over it. YCSB
//             scatters by a hash, by which some records take over the chances of several and others have
//             none; ours is a permutation. D: the latest records: what the stream itself inserted last is the
//             most popular, then what it inserted before that, and then the population's, from its end.
// Source      Cooper, Silberstein, Tam, Ramakrishnan, Sears, Benchmarking Cloud Serving Systems with YCSB
//             (SoCC 2010), 4.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/shared/call_builder.h"
#include "workloads/shared/mix.h"
#include "workloads/shared/workload.h"
#include "workloads/shared/zipf.h"
#include "workloads/ycsb/ycsb_schema.h"

namespace mneme::ycsb {

// The mix of core workload 'A' to 'F', in the order of Procedure.
std::span<const MixShare> default_mix(char core_workload);

class Generator : public CallGenerator {
 public:
  // `ranks`: of settings.records, by their popularity.
  Generator(const Settings& settings, const Zipf& ranks, uint64_t seed, const Mix& mix,
            const StreamId& stream);

  const Call& call(uint64_t position) override;

 private:
  uint64_t inserts_before(uint64_t position) const;
  int64_t own_key(uint64_t ordinal) const;
  // The number of a record that exists once the stream has made `inserted` inserts.
  int64_t choose_key(Random& random, uint64_t inserted) const;
  std::string_view value(int64_t key, uint32_t field, Random& random);
  void add_insert(Random& random, uint64_t ordinal);
  void add_field_and_value(Random& random, int64_t key);

  const Settings settings_;
  const Zipf ranks_;
  const uint64_t seed_;
  const Mix mix_;
  const uint64_t insert_percent_;
  const StreamId stream_;
  CallBuilder call_;
  Arena values_;  // of the call that was made last
};

}  // namespace mneme::ycsb
