# Flags of the project's own targets. Third-party headers come in as SYSTEM and are not warned about.

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(STICTION_CCACHE ccache)
  if(STICTION_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # paths below the checkout count as relative, so that clones share objects
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
        CCACHE_NOHASHDIR=1 ${STICTION_CCACHE})
  endif()
endif()

# Bounds checks of the standard library wherever speed is not the point.
add_compile_definitions($<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
if(STICTION_SANITIZE)
  add_compile_options(-fsanitize=${STICTION_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g -O1)
  add_link_options(-fsanitize=${STICTION_SANITIZE})
endif()

function(stiction_compile_options target)
  # Value-preserving only: never -ffast-math, which would reorder sums and lose NaN checks.
  set(options -fno-math-errno -fno-trapping-math
      -Wall -Wextra -Wshadow -Wconversion -Wdouble-promotion $<$<BOOL:${STICTION_WERROR}>:-Werror>)
  # g++ 12 sees overlaps that can't be in `"literal" + std::string` (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND options -Wno-restrict)
  endif()
  # Quoted includes only: with -I, src/math.h would shadow the C library's <math.h>.
  list(APPEND options "SHELL:-iquote \"${PROJECT_SOURCE_DIR}/src\""
       "SHELL:-iquote \"${PROJECT_SOURCE_DIR}\"")
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${options}>")
endfunction()
