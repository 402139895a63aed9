# The counts of `./dev gpu-counts`: the kernels of the library with another runtime under them.
if(STICTION_CUDA_FOUND AND NOT STICTION_SANITIZE)
  add_executable(ptx_counts EXCLUDE_FROM_ALL cuda/ptx/runtime.cpp cuda/ptx/counts.cpp
                 $<TARGET_OBJECTS:stiction_ptx>)
  stiction_compile_options(ptx_counts)
  target_include_directories(ptx_counts PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_include_directories(ptx_counts SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(ptx_counts PRIVATE stiction nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
endif()
