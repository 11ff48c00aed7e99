// Stands in for libnuma: one node.
#pragma once
