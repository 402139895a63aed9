# The tests that need a card, on the PTX that nvcc made: the same objects with another runtime under
# them. Where nvcc is missing they are counted as skipped; the interpreter's own tests run anyway.
# Those of label ptx_full, some minutes, run in `./dev test --full` alone.
if(STICTION_CUDA_FOUND AND NOT STICTION_SANITIZE)
  add_executable(stiction_ptx_tests cuda/ptx/runtime.cpp $<TARGET_OBJECTS:stiction_tests>
                 $<TARGET_OBJECTS:stiction_emulated> $<TARGET_OBJECTS:stiction_ptx>)
  add_executable(ptx_counts EXCLUDE_FROM_ALL cuda/ptx/runtime.cpp cuda/ptx/counts.cpp
                 $<TARGET_OBJECTS:stiction_ptx>)
  foreach(program stiction_ptx_tests ptx_counts)
    stiction_compile_options(${program})
    target_include_directories(${program} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_include_directories(${program} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    target_link_libraries(${program} PRIVATE stiction Eigen3::Eigen nlohmann_json::nlohmann_json
                          ${CMAKE_DL_LIBS})
  endforeach()
  target_link_libraries(stiction_ptx_tests PRIVATE GTest::gtest GTest::gmock GTest::gtest_main)

  # PREFIX LABEL FILTER [PROPERTY VALUE...]
  function(stiction_ptx_tests prefix label filter)
    list(JOIN filter ":" names)
    gtest_discover_tests(stiction_ptx_tests TEST_FILTER "${names}" TEST_PREFIX ${prefix}
                         TEST_LIST ${prefix}${label} DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS ${label} ${ARGN})
  endfunction()
  stiction_ptx_tests(ptx. ptx "*DeviceScenes.AStepIsThatOfTheCpu/*_cuda;*DeviceLaws.*_cuda;*OnDevice.*/cuda;\
*DeviceEpisodes.*/cuda;*DeviceTask.AControlStepIsThatOfTheCpu/cuda_InvertedPendulumv5;\
*DeviceTask.AControlStepIsThatOfTheCpu/cuda_Antv5;*DeviceTask.AControlStepIsThatOfTheCpu/cuda_Go2Flat;\
*PtxDeterminism.*;*Cuda.GroupsAgree/cartpole_cuda;*Cuda.GroupsAgree/branches_cuda;*Cuda.GroupsAgree/pushed_cuda;\
*Cuda.GroupsAgree/stops_cuda;\
-*BadInputOnDevice.*;*.AStepAllocatesNothing/*")
  stiction_ptx_tests(ptx. ptx_full "*DeviceScenes.SavedHereRestoredThere/*_cuda;*Determinism*.*/pushed_cuda;\
*Determinism*.*/branches_cuda;*Determinism*.*/cuda;*BadInputOnDevice.*/cuda;*BatchStates.*/cuda;\
*EveryTask.AloneOrAmongManyTheSameBits/cuda_Hopperv5;*EveryTask.AloneOrAmongManyTheSameBits/cuda_Antv5;\
*DeviceTask.PoisonChangesNoBit/cuda_Hopperv5;-*.AbsurdInputsLeaveEveryOutputFinite/*")
  # each access beside those of all other lanes
  stiction_ptx_tests(ptx.races. ptx "*PtxScenes.*;-*/g1_feetonly" ENVIRONMENT STICTION_PTX_RACES=1)
  stiction_ptx_tests(ptx.races. ptx_full "*PtxScenes.*/g1_feetonly" ENVIRONMENT STICTION_PTX_RACES=1)
elseif(NOT STICTION_SANITIZE)
  add_test(NAME ptx.tests_of_a_card COMMAND ${CMAKE_COMMAND} -E echo
           "skipped: without nvcc there is no PTX for the tests that need a card")
  set_tests_properties(ptx.tests_of_a_card PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
endif()
