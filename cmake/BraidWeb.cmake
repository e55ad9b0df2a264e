# The dashboard of web/: built by Vite in the build folder, so that the source tree stays clean, and compiled into the library.

option(BRAID_WEB "Build the dashboard into the program; needs Node.js 18.19 and npm" ON)

# braid_embed_web(target): adds the files of the dashboard to the library, or none of them.
function(braid_embed_web target)
  set(built ${CMAKE_BINARY_DIR}/web)
  set(embedded ${built}/web_files.cc)
  if(NOT BRAID_WEB)
    file(CONFIGURE OUTPUT ${embedded} CONTENT "#include \"http/web.h\"
std::span<const braid::http::WebFile> braid::http::WebFiles() { return {}; }
")
  else()
    find_program(NODE NAMES node nodejs)
    find_program(NPM npm)
    if(NOT NODE OR NOT NPM)
      message(FATAL_ERROR "The dashboard needs Node.js and npm: run scripts/setup, or build without it: -DBRAID_WEB=OFF")
    endif()
    set(source ${CMAKE_SOURCE_DIR}/web)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${source}/src/* ${source}/public/*)
    list(APPEND files ${source}/index.html ${source}/vite.config.mjs ${source}/tsconfig.json ${source}/embed.mjs)
    add_custom_command(
      OUTPUT ${built}/node_modules/.installed
      COMMAND ${CMAKE_COMMAND} -E make_directory ${built}
      COMMAND ${CMAKE_COMMAND} -E copy ${source}/package.json ${source}/package-lock.json ${built}
      COMMAND ${NPM} ci --prefix ${built} --ignore-scripts --no-audit --no-fund --loglevel=error
      COMMAND ${CMAKE_COMMAND} -E touch ${built}/node_modules/.installed
      DEPENDS ${source}/package.json ${source}/package-lock.json
      COMMENT "Installing the dashboard's libraries (npm)"
      VERBATIM)
    add_custom_command(
      OUTPUT ${embedded}
      COMMAND ${CMAKE_COMMAND} -E rm -rf ${built}/src ${built}/public ${built}/dist
      COMMAND ${CMAKE_COMMAND} -E copy_directory ${source} ${built}
      COMMAND ${CMAKE_COMMAND} -E chdir ${built} ${NODE} node_modules/vite/bin/vite.js build --logLevel warn
      COMMAND ${NODE} ${built}/embed.mjs ${built}/dist ${embedded}
      DEPENDS ${files} ${built}/node_modules/.installed
      COMMENT "Building the dashboard"
      VERBATIM)
  endif()
  target_sources(${target} PRIVATE ${embedded})
  set_source_files_properties(${embedded} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
