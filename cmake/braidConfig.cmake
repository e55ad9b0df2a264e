# find_package(braid): braid::embedded, braid::counters, braid::once, braid::chains, braid::timeline and what they need.
include(${CMAKE_CURRENT_LIST_DIR}/BraidDependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/braidTargets.cmake)
