# STICTION_CUDA_FOUND: the CUDA back end is built.
set(STICTION_CUDA AUTO CACHE STRING "CUDA back end: ON, OFF, or AUTO, where nvcc is found")
set_property(CACHE STICTION_CUDA PROPERTY STRINGS AUTO ON OFF)
set(STICTION_CUDA_FOUND OFF)
if(NOT STICTION_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "STICTION_CUDA: '${STICTION_CUDA}' is not AUTO, ON or OFF")
endif()

if(NOT STICTION_CUDA STREQUAL "OFF")
  find_program(STICTION_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_PATH PATHS /usr/local/cuda
               PATH_SUFFIXES bin)
  if(STICTION_NVCC)
    # a developer's card or none; 90: its code and PTX for later ones
    set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "Cards to compile for")
    set(CMAKE_CUDA_COMPILER ${STICTION_NVCC} CACHE FILEPATH "")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER} CACHE FILEPATH "")
    endif()
    if(STICTION_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
    endif()
    enable_language(CUDA)
    # CMake 3.25 does not know that nvcc has C++20
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    endif()
    find_package(CUDAToolkit REQUIRED)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.8)
      message(FATAL_ERROR "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old, 12.8 is needed; "
                          "or configure with -D STICTION_CUDA=OFF")
    endif()
    set(STICTION_CUDA_FOUND ON)
  elseif(STICTION_CUDA STREQUAL "ON")
    message(FATAL_ERROR "STICTION_CUDA is ON, but nvcc is not found; install the CUDA toolkit or "
                        "name its compiler with -D STICTION_NVCC=.../bin/nvcc")
  endif()
endif()
