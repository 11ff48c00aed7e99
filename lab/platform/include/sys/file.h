// Stands in: flock() is in platform.h.
#pragma once
#include <fcntl.h>
