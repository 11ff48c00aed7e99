// Stands in: the disk is memory, and has no device number.
#pragma once
#define major(device) 0u
#define minor(device) 0u
