# cmake --install: the program, the public headers and the libraries under them, found again by find_package(braid).
include(GNUInstallDirs)

# What is only for the program and for tests.
set(private braid_cli braid_bench braid_transfer braid_advise)
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
