#include "workloads/smallbank/smallbank_generator.h"

#include <array>

#include "base/check.h"

namespace mneme::smallbank {
namespace {

constexpr std::array<MixShare, 6> kSmallbankMix = {{
    {"balance", 15},
    {"deposit_checking", 15},
    {"transact_savings", 15},
    {"amalgamate", 15},
    {"write_check", 15},
    {"send_payment", 25},
}};

int64_t amount(Random& random) {
  return random.uniform(1'00, 100'00);
}

}  // namespace

std::span<const MixShare> default_mix() {
  return kSmallbankMix;
}

Generator::Generator(int64_t customers, const Hotspot& hotspot, uint64_t seed, const Mix& mix,
                     const StreamId& stream)
    : customer_count_(customers), hotspot_(hotspot), seed_(seed), mix_(mix), stream_(stream) {
  CHECK(hotspot.customers >= 2);
  CHECK(hotspot.customers + 2 <= customers);
}

Generator::Pair Generator::customers(Random& random) const {
  const bool hot = random.chance(static_cast<int>(hotspot_.percent));
  const int64_t low = hot || hotspot_.percent == 0 ? 1 : int64_t{hotspot_.customers} + 1;
  const int64_t high = hot ? hotspot_.customers : customer_count_;
  const int64_t first = random.uniform(low, high);
  const int64_t second = random.uniform(low, high - 1);
  return {first, second < first ? second : second + 1};
}

const Call& Generator::call(uint64_t position) {
  Random random({seed_, /*purpose=*/0xca11, stream_.worker, stream_.incarnation, position});
  const auto procedure = static_cast<Procedure>(mix_.pick(random));
  const Pair pair = customers(random);
  call_.start(id_of(procedure)).text(customer_name(pair.first));
  switch (procedure) {
    case Procedure::kBalance:
      call_.results(1);
      break;
    case Procedure::kDepositChecking:
      call_.numeric(amount(random));
      break;
    case Procedure::kTransactSavings: {
      const bool withdrawal = random.chance(50);
      call_.numeric(withdrawal ? -amount(random) : amount(random));
      break;
    }
    case Procedure::kAmalgamate:
      call_.text(customer_name(pair.second));
      break;
    case Procedure::kWriteCheck:
      call_.numeric(amount(random)).results(1);
      break;
    case Procedure::kSendPayment:
      call_.text(customer_name(pair.second)).numeric(amount(random));
      break;
  }
  return call_.call();
}

}  // namespace mneme::smallbank
