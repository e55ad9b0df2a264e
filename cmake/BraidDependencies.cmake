# The Debian 12 packages that Braid is built on; scripts/setup installs them. Part of an install tree too.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS context)
find_package(simdjson REQUIRED)

pkg_check_modules(BSON REQUIRED IMPORTED_TARGET libbson-1.0)
pkg_check_modules(MONGOC REQUIRED IMPORTED_TARGET libmongoc-1.0)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SNAPPY REQUIRED IMPORTED_TARGET snappy)
pkg_check_modules(RABBITMQ REQUIRED IMPORTED_TARGET librabbitmq)
pkg_check_modules(TOML REQUIRED IMPORTED_TARGET tomlplusplus)

find_library(ROCKSDB_LIBRARY rocksdb REQUIRED)
add_library(braid_rocksdb INTERFACE IMPORTED)
target_link_libraries(braid_rocksdb INTERFACE ${ROCKSDB_LIBRARY})

# IEEE 754 decimal arithmetic. Variant 000: arguments by value, rounding mode and flags as arguments.
find_library(INTEL_DECIMAL_LIBRARY bidgcc000 REQUIRED)
add_library(braid_decimal INTERFACE IMPORTED)
target_link_libraries(braid_decimal INTERFACE ${INTEL_DECIMAL_LIBRARY})
