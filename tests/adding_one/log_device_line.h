LOG_DEVICE(kCounting, "counting", open_counting_device, .help = "counts its bytes", .has_segments = false)
