// SimulatedNetwork: TCP between the machines of a simulation, beneath the C library's calls.
//
// Streams     the network carries streams of bytes between sockets of this process. How long bytes are under
//             way is drawn, by links that are faster or slower, and whether they come in pieces; a send may
//             take some of them, a receive give some. A closed socket tells the other side so, behind its
//             bytes.
// Faults      a connection is reset at any time, with some of what is under way lost; the link to a machine
//             is cut, in silence: what is sent waits for it to be mended, and where that takes longer than
//             ten seconds both sides give the connection up; a machine's sockets end with its process, or
//             with the machine.
// How         socket, connect, poll, send, recv and the like are defined anew in simulated_network.cc; each
//             is a step (simulated_threads.h). io_uring is not to be had, so the engine does with poll. A
//             socket belongs to the machine of the thread that made it; all machines have one address, and a
//             port each where servers listen.
// Threads     simulated ones.
#pragma once

#include <cstdint>

namespace mneme::simulator {

// Without it the calls go on to the library.
void insert_network();

// The engine's, 0, and its servers'. Connections that a machine of a higher number makes have neither delays
// to speak of nor faults.
inline constexpr uint64_t kMachines = 4;

void cut_link(uint64_t machine, uint64_t ns);
// All links are mended, and none is cut any more.
void mend_links();
// Returns the fastest of the links to the first machines behind the engine's.
uint64_t fastest_link(uint64_t count);
// One of those that stand, if there is one.
bool reset_a_connection();

enum class Farewell : uint8_t {
  kProcessDied,  // what it had sent arrives, and then its end
  kReset,        // or some of it, and the reset
  kSilent,       // or some of it, and nothing more: the other side gives up after ten seconds and more
};
// All the machine's sockets end.
void end_sockets(uint64_t machine, Farewell farewell);
// Whether a machine has sockets that are connected, or were and have not been closed yet.
bool has_connections(uint64_t machine);

}  // namespace mneme::simulator
