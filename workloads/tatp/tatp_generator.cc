#include "workloads/tatp/tatp_generator.h"

#include <array>

#include "base/check.h"
#include "workloads/shared/random_values.h"

namespace mneme::tatp {
namespace {

constexpr std::array<MixShare, 7> kTatpMix = {{
    {"get_subscriber_data", 35},
    {"get_new_destination", 10},
    {"get_access_data", 35},
    {"update_subscriber_data", 2},
    {"update_location", 14},
    {"insert_call_forwarding", 2},
    {"delete_call_forwarding", 2},
}};

// NURand's constant A, by the number of subscribers.
int64_t nu_rand_a(int64_t subscribers) {
  if (subscribers <= 1'000'000) return 65'535;
  if (subscribers <= 10'000'000) return 1'048'575;
  return 2'097'151;
}

int64_t type(Random& random) {
  return random.uniform(1, kTypes);
}

int64_t start_time(Random& random) {
  return random.uniform(0, kLastStartTime / kStartTimeStep) * kStartTimeStep;
}

}  // namespace

std::span<const MixShare> default_mix() {
  return kTatpMix;
}

Generator::Generator(int64_t subscribers, uint64_t seed, const Mix& mix, const StreamId& stream)
    : subscribers_(subscribers), nu_rand_a_(nu_rand_a(subscribers)), seed_(seed), mix_(mix), stream_(stream) {
  CHECK(subscribers > 0);
}

int64_t Generator::subscriber(Random& random) const {
  return nu_rand(random, nu_rand_a_, /*c=*/0, 1, subscribers_);
}

const Call& Generator::call(uint64_t position) {
  Random random({seed_, /*purpose=*/0xca11, stream_.worker, stream_.incarnation, position});
  scratch_.reset();
  const auto procedure = static_cast<Procedure>(mix_.pick(random));
  const int64_t chosen = subscriber(random);
  call_.start(id_of(procedure));
  switch (procedure) {
    case Procedure::kGetSubscriberData:
      call_.integer(chosen).results(33);
      break;
    case Procedure::kGetNewDestination:
      call_.integer(chosen).integer(type(random)).integer(start_time(random));
      call_.integer(random.uniform(1, kLastEndTime)).results(1);
      break;
    case Procedure::kGetAccessData:
      call_.integer(chosen).integer(type(random)).results(4);
      break;
    case Procedure::kUpdateSubscriberData:
      call_.integer(chosen).integer(random.uniform(0, 1)).integer(type(random));
      call_.integer(random.uniform(0, kHighestByte));
      break;
    case Procedure::kUpdateLocation:
      call_.text(subscriber_number(chosen)).integer(random.uniform(1, kHighestLocation));
      break;
    case Procedure::kInsertCallForwarding:
      call_.text(subscriber_number(chosen)).integer(type(random)).integer(start_time(random));
      call_.integer(random.uniform(1, kLastEndTime));
      call_.text(digits(random, kNumberDigits, scratch_)).results(1);
      break;
    case Procedure::kDeleteCallForwarding:
      call_.text(subscriber_number(chosen)).integer(type(random)).integer(start_time(random));
      break;
  }
  return call_.call();
}

}  // namespace mneme::tatp
