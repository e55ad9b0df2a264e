# How every target of the project is compiled, and the one way to declare a library with its unit tests.

find_program(CCACHE ccache)
if(CCACHE)
  # Paths relative to the checkout, and no build folder in the key: so that every build folder and every clone shares results.
  # Which headers a file includes is learnt from the compiler (DEPEND), so that a cold build does not preprocess everything twice.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 ${CCACHE})
  # No __FILE__ and no debug information names the checkout either, whose path from a build folder is ../.. to ccache.
  add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=../../=)
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
  # Clang 14 cannot compile coroutines with the check of function pointers' types. The last two: the stacks of reports are whole.
  add_compile_options(-fsanitize=${BRAID_SANITIZE} $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function> -fno-omit-frame-pointer -fno-optimize-sibling-calls)
  add_link_options(-fsanitize=${BRAID_SANITIZE})
endif()

# A cold build spends most of its time reading the same headers and instantiating the same templates. So several files are
# compiled as one: a library's with each other, a test program's with each other, never across the two. What this asks of the
# code: a name that is private to a file is unique in its library. scripts/steps/tidy compiles every source but the tests alone, so that none
# lives off its neighbours' includes.
option(BRAID_UNITY "Compile several files of a folder as one" ON)
set(BRAID_UNITY_FILES 20 CACHE STRING "How many files are compiled as one, at most; 0: all of a target")
# compile_together(target): the .cc files that it has at the end of the calling CMakeLists.txt.
function(compile_together target)
  if(NOT BRAID_UNITY)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # To GCC a source that is not compiled by itself is a header, where types of an unnamed namespace would be a mistake.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
  cmake_language(EVAL CODE "cmake_language(DEFER CALL braid_batch_sources ${target})")
endfunction()

# Replaces the sources of a target by files that include them. CMake's own UNITY_BUILD would do the same with absolute paths, and
# ccache would find nothing that another clone has compiled.
function(braid_batch_sources target)
  set(kept "")
  set(together "")
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(alone OR NOT source MATCHES "\\.cc$")
      list(APPEND kept ${source})
    else()
      get_filename_component(path ${source} ABSOLUTE)
      file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${path})
      list(APPEND together ${path})
    endif()
  endforeach()
  list(LENGTH together count)
  set(size ${BRAID_UNITY_FILES})
  if(size EQUAL 0)
    set(size ${count})
  endif()
  set(number 0)
  while(together)
    list(SUBLIST together 0 ${size} batch)
    list(REMOVE_ITEM together ${batch})
    list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN batch "" content)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/Unity/${target}_${number}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${content}" @ONLY)  # leaves a file that is the same as it is
    list(APPEND kept ${file})
    math(EXPR number "${number} + 1")
  endwhile()
  set_property(TARGET ${target} PROPERTY SOURCES ${kept})
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
    target_compile_options(${name}_test PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1> $<$<CONFIG:Debug>:-O0>)
    add_test(NAME ${name}_test COMMAND ${name}_test --gtest_brief=1)
    set_tests_properties(${name}_test PROPERTIES TIMEOUT 900)
  endif()
endfunction()
