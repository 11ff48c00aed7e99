// Which file of a data directory holds the catalog of a hash: catalog.sql the one that the database was born
// with, others the ones that schema records have made of it, where a checkpoint needed them. They are small,
// and stay.
#pragma once

#include <fmt/format.h>

#include <string>

#include "logging/directory/manifest.h"

namespace mneme {

// The catalog of the database's birth. Manifest::checkpoint_catalog_file may name another by now.
inline constexpr const char* kCatalogFile = "catalog.sql";

inline std::string catalog_file(const Manifest& manifest, uint64_t hash) {
  return hash == manifest.catalog_hash ? kCatalogFile : fmt::format("catalog-{:016x}.sql", hash);
}

}  // namespace mneme
