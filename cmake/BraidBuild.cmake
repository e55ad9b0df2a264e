# How every target of the project is compiled, and the one way to declare a library with its unit tests.

find_program(CCACHE ccache)
if(CCACHE)
  # Paths relative to the checkout, and no build folder in the key: so that every build folder and every clone shares results.
  # Which headers a file includes is learnt from the compiler (DEPEND), so that a cold build does not preprocess everything twice.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 ${CCACHE})
  # No __FILE__ and no debug information names the checkout either.
  add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these on its own inlined library code when it optimises.
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libbson declares bson_t with an alignment of 128 bytes and hands out what it has allocated itself.
  add_compile_options(-Wno-align-mismatch)
  # What src/base/mutex.h declares: an access without the lock that guards it is an error.
  add_compile_options(-Wthread-safety)
endif()
if(BRAID_SANITIZE)
  # Clang 14 cannot compile coroutines with the check of function pointers' types.
  add_compile_options(-fsanitize=${BRAID_SANITIZE} $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function> -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BRAID_SANITIZE})
endif()

# A cold build spends most of its time reading the same headers and instantiating the same templates. So several files are
# compiled as one: a library's with each other, a test program's with each other, never across the two. What this asks of the
# code: a name that is private to a file is unique in its library. scripts/steps/tidy compiles every source but the tests alone, so that none
# lives off its neighbours' includes.
option(BRAID_UNITY "Compile several files of a folder as one" ON)
set(BRAID_UNITY_FILES 20 CACHE STRING "How many files are compiled as one, at most")
# compile_together(target): all of its sources were listed.
function(compile_together target)
  if(BRAID_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # To GCC a source that is not compiled by itself is a header, where types of an unnamed namespace would be a mistake.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${BRAID_UNITY} UNITY_BUILD_BATCH_SIZE ${BRAID_UNITY_FILES})
endfunction()

# braid_library(name DEPS a b … [FOLDERS x y …]): every .cc beside the calling CMakeLists.txt (and in the named sub-folders)
# becomes the library `name`; every *_test.cc becomes the test program `name_test`, which is one test of CTest.
function(braid_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;TEST_DEPS;FOLDERS" ${ARGN})
  set(patterns *.cc)
  foreach(folder ${ARG_FOLDERS})
    list(APPEND patterns ${folder}/*.cc)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(sources)
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>
                                              $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:include>)
    target_link_libraries(${name} PUBLIC ${ARG_DEPS})
    compile_together(${name})
    set_property(GLOBAL APPEND PROPERTY BRAID_LIBRARIES ${name})
  endif()
  if(tests AND BRAID_TESTS)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE ${name} braid_testing GTest::gmock GTest::gtest_main ${ARG_TEST_DEPS})
    compile_together(${name}_test)
    # The code that is tested is optimised as in the program; the tests' own code is not worth the compiler's time.
    target_compile_options(${name}_test PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
    add_test(NAME ${name}_test COMMAND ${name}_test --gtest_brief=1)
    set_tests_properties(${name}_test PROPERTIES TIMEOUT 900)
  endif()
endfunction()
