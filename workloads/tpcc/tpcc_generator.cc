#include "workloads/tpcc/tpcc_generator.h"

#include <algorithm>
#include <array>

namespace mneme::tpcc {
namespace {

constexpr std::array<MixShare, 5> kTpccMix = {{
    {"new_order", 45},
    {"payment", 43},
    {"order_status", 4},
    {"delivery", 4},
    {"stock_level", 4},
}};

constexpr int64_t kMicrosecondsPerCall = 1'000;
constexpr int64_t kMicrosecondsPerDay = int64_t{24} * 3600 * 1'000'000;

}  // namespace

std::span<const MixShare> default_mix() {
  return kTpccMix;
}

Generator::Generator(const Scale& scale, uint64_t seed, const Mix& mix, const StreamId& stream)
    : scale_(scale),
      seed_(seed),
      mix_(mix),
      stream_(stream),
      constants_(NuRandConstants::of_seed(seed)),
      home_count_(std::max<int64_t>(
          1, (scale.warehouses + stream.worker_count - 1 - stream.worker) / stream.worker_count)) {
  CHECK(stream.worker < stream.worker_count);
}

const Call& Generator::call(uint64_t position) {
  Random random({seed_, /*purpose=*/0xca11, stream_.worker, stream_.incarnation, position});
  const int64_t time = kPopulationTime + kMicrosecondsPerDay * (stream_.incarnation + 1) +
                       static_cast<int64_t>(position) * kMicrosecondsPerCall;
  switch (static_cast<Procedure>(mix_.pick(random))) {
    case Procedure::kNewOrder:
      new_order(random, time);
      break;
    case Procedure::kPayment:
      payment(random, time);
      break;
    case Procedure::kOrderStatus:
      order_status(random);
      break;
    case Procedure::kDelivery:
      delivery(random, time);
      break;
    case Procedure::kStockLevel:
      stock_level(random);
      break;
  }
  return call_.call();
}

void Generator::new_order(Random& random, int64_t time) {
  const int64_t warehouse = home_warehouse(random);
  call_.start(id_of(Procedure::kNewOrder)).integer(warehouse);
  call_.integer(random.uniform(1, kDistricts)).integer(customer(random)).timestamp(time);

  const auto line_count = static_cast<size_t>(random.uniform(5, 15));
  const bool rolled_back = random.chance(1);
  const std::span<Value> items = call_.array(line_count);
  const std::span<Value> suppliers = call_.array(line_count);
  const std::span<Value> quantities = call_.array(line_count);
  for (size_t line = 0; line < line_count; ++line) {
    items[line] = Value::of_int(nu_rand(random, kItemA, constants_.item, 1, scale_.items));
    suppliers[line] = Value::of_int(random.chance(1) ? other_warehouse(random, warehouse) : warehouse);
    quantities[line] = Value::of_int(random.uniform(1, 10));
  }
  if (rolled_back) items.back() = Value::of_int(scale_.items + 1);
  call_.results(12);
}

void Generator::payment(Random& random, int64_t time) {
  const int64_t warehouse = home_warehouse(random);
  const int64_t district = random.uniform(1, kDistricts);
  call_.start(id_of(Procedure::kPayment)).integer(warehouse).integer(district);
  if (random.chance(85)) {
    call_.integer(warehouse).integer(district);
  } else {
    call_.integer(other_warehouse(random, warehouse)).integer(random.uniform(1, kDistricts));
  }
  add_customer_choice(random);
  call_.numeric(random.uniform(1'00, 5'000'00)).timestamp(time).results(26);
}

void Generator::order_status(Random& random) {
  call_.start(id_of(Procedure::kOrderStatus))
      .integer(home_warehouse(random))
      .integer(random.uniform(1, kDistricts));
  add_customer_choice(random);
  call_.results(13);
}

void Generator::delivery(Random& random, int64_t time) {
  call_.start(id_of(Procedure::kDelivery)).integer(home_warehouse(random));
  call_.integer(random.uniform(1, 10)).timestamp(time).results(1);
}

void Generator::stock_level(Random& random) {
  call_.start(id_of(Procedure::kStockLevel)).integer(home_warehouse(random));
  // A terminal asks for its own district alone (2.8.1.1).
  const int64_t district = random.uniform(1, kDistricts);
  call_.integer(stream_.is_terminal ? home_district() : district).integer(random.uniform(10, 20)).results(1);
}

int64_t Generator::home_warehouse(Random& random) const {
  const int64_t nth = random.uniform(0, home_count_ - 1);
  return (stream_.worker + nth * stream_.worker_count) % scale_.warehouses + 1;
}

int64_t Generator::home_district() const {
  return (stream_.worker / scale_.warehouses) % kDistricts + 1;
}

int64_t Generator::other_warehouse(Random& random, int64_t home) const {
  if (scale_.warehouses == 1) return home;
  const int64_t other = random.uniform(1, scale_.warehouses - 1);
  return other < home ? other : other + 1;
}

int64_t Generator::customer(Random& random) const {
  return nu_rand(random, kCustomerA, constants_.customer, 1, scale_.customers);
}

void Generator::add_customer_choice(Random& random) {
  if (random.chance(60)) {
    const LastName name(nu_rand(random, kLastNameA, constants_.last_name_run, 0, scale_.last_names() - 1));
    call_.null().text(name.text());
  } else {
    call_.integer(customer(random)).null();
  }
}

}  // namespace mneme::tpcc
