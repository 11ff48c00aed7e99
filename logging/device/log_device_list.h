// The table of log devices, and the only place that names them all. A line is
//
//   LOG_DEVICE(enumerator, name, function that opens it, traits that differ from LogDeviceTraits' defaults)
//
// and is included, without a guard, by files that make something of each line: the enumerators and the traits
// (log_device_kind), the functions (device_factory). To add a device, add a line here, and two files: its
// class, and the function that the line names (docs/HACKING.md).

// Segment files, written by a flusher.
LOG_DEVICE(kFile, "file", open_file_device, .help = "segment files, direct I/O", .promise = "local disk",
           .has_io = true, .notes_close = true)
LOG_DEVICE(kStriped, "striped", open_file_device, .help = "over several directories", .promise = "local disk",
           .has_io = true, .is_striped = true, .notes_close = true)
LOG_DEVICE(kNull, "null", open_null_device,
           .help = "drops everything, and in logbench measures the buffer alone", .has_units = false,
           .has_segments = false)

// Other machines, through libraries that register themselves (server_devices.h): a bounded number of
// segments, which the log goes round in.
LOG_DEVICE(kRemote, "remote", open_registered_device, .help = "the memories of log servers (mneme logd)",
           .promise = "{} of {} memories", .promise_of_one = "1 memory", .has_segments = false,
           .is_bounded = true, .has_servers = true, .has_log_servers = true)
LOG_DEVICE(kNats, "nats", open_registered_device, .help = "the memories of NATS JetStream's servers",
           .promise = "{} of {} memories (NATS)", .promise_of_one = "1 memory (NATS)", .has_segments = false,
           .is_bounded = true, .has_servers = true, .is_replicated = true)
LOG_DEVICE(kKafka, "kafka", open_registered_device, .help = "a topic of Kafka's",
           .promise = "{} of {} page caches (Kafka)", .has_segments = false, .is_bounded = true,
           .has_servers = true, .is_replicated = true)

// For crash tests: segment files behind a volatile write cache, and the same without syncs, on which a crash
// test must fail.
LOG_DEVICE(kLossy, "lossy", open_file_device, .help = "a file behind a volatile write cache, for crash tests",
           .promise = "emulated device (for crash tests)", .loses_cache = true)
LOG_DEVICE(kLossyUnsynced, "lossy-unsynced", open_file_device,
           .help = "the same without syncs, so that a crash test must fail", .loses_cache = true,
           .hardens = false)

// Emulated persistent memory, to which each worker writes by itself (nvm_log.h), mapped from segment files;
// behind caches that a crash empties; and without fences, on which a crash test must fail.
LOG_DEVICE(kNvm, "nvm", open_destaging_device,
           .help =
               "emulated persistent memory, to which each worker writes its records, or, with "
               "--log-buffer distributed, in which the streams' buffers lie",
           .promise = "persistent memory (emulated)", .has_flusher = false, .has_units = false,
           .has_segments = false, .notes_close = true, .destaged_to = LogDeviceKind::kFile)
LOG_DEVICE(kNvmLossy, "nvm-lossy", open_destaging_device,
           .help = "the same, behind caches that a crash empties",
           .promise = "emulated device (for crash tests)", .has_flusher = false, .has_units = false,
           .has_segments = false, .loses_cache = true, .destaged_to = LogDeviceKind::kLossy)
LOG_DEVICE(kNvmLossyUnfenced, "nvm-lossy-unfenced", open_destaging_device,
           .help = "the same, and the caches are never written back", .has_flusher = false,
           .has_units = false, .has_segments = false, .loses_cache = true, .hardens = false,
           .destaged_to = LogDeviceKind::kLossy)
