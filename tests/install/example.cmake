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

# The crate rests on its side, so its centre stands at half its height, 0.1 m, less a penetration
# under 0.1 mm (its weight over the stiffness of four corners).
if(NOT output MATCHES "height 0\\.(0999|1000)")
  message(FATAL_ERROR "the crate should rest at 0.1 m: ${output}")
endif()
