# Arguments: build, source, compiler, generator.
set(root ${build}/tests/install)
file(REMOVE_RECURSE ${root})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed (${status}):\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${build} --component cpp --prefix ${root}/prefix)
run(${CMAKE_COMMAND} -S ${source}/examples -B ${root}/example -G ${generator}
    -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_COMPILER=${compiler}
    -D CMAKE_PREFIX_PATH=${root}/prefix)
file(STRINGS ${root}/example/CMakeCache.txt found REGEX "^stiction_DIR:")
if(NOT found MATCHES "=${root}/prefix/")
  message(FATAL_ERROR "found another stiction than the installed one: ${found}")
endif()
run(${CMAKE_COMMAND} --build ${root}/example)
run(${root}/example/drop ${source}/examples/crate.xml)
message("${output}")

# The centres rest at half their height, 0.1 m, less what its weight presses four corners in: two
# surfaces of 1 MN/m in series, 9.81 N/(4 * 0.5 MN/m) = 4.905 um.
if(NOT output MATCHES "heights 0\\.099995 to 0\\.099995 m .* 9\\.81.. N on each, 0 frozen")
  message(FATAL_ERROR "the crates should rest at 0.099995 m under 9.81 N: ${output}")
endif()
