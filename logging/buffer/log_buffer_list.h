// The table of log buffers, and the only place that names them all, in the order in which their sources build
// upon each other. A line is
//
//   LOG_BUFFER(enumerator, name, function that makes it, traits that differ from LogBufferTraits' defaults)
//
// and is included, without a guard, by the factory. To add a buffer, add a line here, and two files: its
// class, and the function that the line names (docs/HACKING.md).

LOG_BUFFER(kMutex, "mutex", make_mutex_buffer)  // one lock over reservation and fill: the baseline
LOG_BUFFER(kConsolidation, "consolidation", make_consolidation_buffer,
           .has_slots = true)                               // C: groups compete for the lock
LOG_BUFFER(kDecoupled, "decoupled", make_decoupled_buffer)  // D: the lock covers the reservation alone
LOG_BUFFER(kHybrid, "hybrid", make_hybrid_buffer, .has_slots = true)  // CD: both
LOG_BUFFER(kDelegated, "delegated", make_delegated_buffer,
           .has_slots = true)  // CDE: a slower predecessor may release, too
LOG_BUFFER(kSocket, "socket", make_socket_buffer,
           .has_slots = true)  // CD with one consolidation array a NUMA node
// One fetch_add; the flusher crawls along lists of what is written, or hops.
LOG_BUFFER(kGrasshopper, "grasshopper", make_grasshopper_buffer, .hops = true)
LOG_BUFFER(kScan, "scan", make_scan_buffer,
           .has_scan_bits = true)  // one fetch_add, and a bitmap of the bytes that are written
LOG_BUFFER(kWatermark, "watermark", make_watermark_buffer)  // one fetch_add, and a low watermark a worker
// One fetch_add; each worker writes in an extent of its own, the flusher merges.
LOG_BUFFER(kExtents, "extents", make_extents_buffer)
