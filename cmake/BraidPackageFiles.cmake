# Run by cpack: the files of the package that are not below /usr. file(INSTALL) puts $DESTDIR, which cpack sets, before them.
if("$ENV{DESTDIR}" STREQUAL "")
  message(FATAL_ERROR "this is a part of cpack -G DEB, and would write to /etc of this machine")
endif()
file(INSTALL DESTINATION /etc/braid TYPE FILE FILES ${CPACK_BRAID_SOURCE}/deploy/braid.toml)
file(INSTALL DESTINATION /etc/default TYPE FILE RENAME braid FILES ${CPACK_BRAID_SOURCE}/deploy/braid.default)
