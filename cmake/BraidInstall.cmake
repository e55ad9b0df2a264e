# cmake --install: the program, the public headers and the libraries under them, found by find_package(braid) and by
# pkg-config.
include(GNUInstallDirs)

# What is only for the program and for tests.
set(private braid_cli braid_http braid_bench braid_transfer braid_advise)
get_property(libraries GLOBAL PROPERTY BRAID_LIBRARIES)
list(REMOVE_ITEM libraries ${private})
foreach(library ${libraries})
  string(REGEX REPLACE "^braid_" "" short ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${short})
endforeach()

install(TARGETS braid RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ${libraries} EXPORT braidTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/braid)
install(DIRECTORY include/braid DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/braid)
install(EXPORT braidTargets NAMESPACE braid:: DESTINATION ${config})
install(FILES cmake/braidConfig.cmake cmake/BraidDependencies.cmake DESTINATION ${config})

# For pkg-config: what the public headers need. The services have none, and the prefix is found from the file's own place.
set(public ${libraries})
list(FILTER public EXCLUDE REGEX "^braid_(demo|queue|schema|staking|shop|settlement.*|explorer.*)$")
list(TRANSFORM public PREPEND -l)
list(JOIN public " " BRAID_PC_LIBRARIES)
file(RELATIVE_PATH BRAID_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" BRAID_PC_UP ${BRAID_PC_UP})
configure_file(cmake/braid.pc.in ${CMAKE_BINARY_DIR}/braid.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/braid.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Made by the program itself: man pages and shell completion.
set(made ${CMAKE_BINARY_DIR}/made)
add_custom_command(
  OUTPUT ${made}/stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${made}
  COMMAND braid manual ${made}/man1
  COMMAND sh -c "gzip -9n ${made}/man1/*.1"
  COMMAND ${CMAKE_COMMAND} -E make_directory ${made}/bash ${made}/zsh
  COMMAND sh -c "$<TARGET_FILE:braid> completion bash >${made}/bash/braid && $<TARGET_FILE:braid> completion zsh >${made}/zsh/_braid"
  COMMAND ${CMAKE_COMMAND} -E touch ${made}/stamp
  DEPENDS braid
  COMMENT "Making the man pages and the shell completion"
  VERBATIM)
# A sanitized program is not installed.
if(NOT BRAID_SANITIZE)
  set(all ALL)
endif()
add_custom_target(made ${all} DEPENDS ${made}/stamp)
install(DIRECTORY ${made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${made}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(DIRECTORY ${made}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES deploy/braid.toml deploy/alerts.yml deploy/grafana-dashboard.json DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES deploy/braid.service DESTINATION lib/systemd/system)

include(BraidPackage)
