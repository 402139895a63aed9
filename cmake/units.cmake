# Most of what the compiler reads for a source file is headers, the same for all files of a folder. So the files of
# a folder, or of several, are compiled as one translation unit, 79 in the place of 261. Whoever changes one
# file often turns this off, and so does what looks for single files (clang-tidy, tests/mutations).
option(STICTION_UNITY "Compile several source files as one translation unit" ON)

# stiction_units(RESULT NAME FILE...): the files, or the one unit that includes them.
function(stiction_units result name)
  if(NOT STICTION_UNITY)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(includes "")
  foreach(file IN LISTS ARGN)
    # relative to a folder of -iquote, so that clones share ccache's objects
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${file})
    string(APPEND includes "#include \"${path}\"\n")
  endforeach()
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/units/${name}.cpp)
  file(CONFIGURE OUTPUT ${unit} CONTENT "${includes}" @ONLY)
  set(${result} ${unit} PARENT_SCOPE)
endfunction()

# stiction_folder_units(RESULT NAME FOLDER...): the same of all .cpp files of folders of the current one.
function(stiction_folder_units result name)
  set(patterns)
  foreach(folder IN LISTS ARGN)
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  endforeach()
  file(GLOB files CONFIGURE_DEPENDS ${patterns})
  stiction_units(units ${name} ${files})
  set(${result} ${units} PARENT_SCOPE)
endfunction()
