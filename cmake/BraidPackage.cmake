# cpack -G DEB: a package of what cmake --install installs, with the configuration of the service.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME braid)
set(CPACK_PACKAGE_VENDOR "Braid")
set(CPACK_PACKAGE_CONTACT "Braid <braid@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Sharded document engine that speaks the MongoDB protocol")
set(CPACK_PACKAGE_DESCRIPTION "A server for MongoDB clients on RocksDB, with sharding, transactions and services\nfor staking statistics, a storefront, a settlement log and a block explorer. With the\nC++ library and its headers.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# What the program is linked with, by dpkg-shlibdeps; what postinst needs.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "passwd")
# The libraries are of use with these; the server does not need them.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libboost1.81-dev, libfmt-dev, libmongoc-dev, librocksdb-dev, libspdlog-dev")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(debian ${CMAKE_SOURCE_DIR}/deploy/debian)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/postinst ${debian}/prerm ${debian}/postrm ${debian}/conffiles)
# Outside of /usr, and only in the package: cmake --install --prefix stays within its prefix.
set(CPACK_INSTALL_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/BraidPackageFiles.cmake)
set(CPACK_BRAID_SOURCE ${CMAKE_SOURCE_DIR})
include(CPack)
