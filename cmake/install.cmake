# `cmake --install build/release --component cpp --prefix DIR` makes find_package(stiction) work.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stiction)
install(TARGETS stiction EXPORT stictionTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
install(DIRECTORY include/stiction DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp)
install(EXPORT stictionTargets NAMESPACE stiction:: DESTINATION ${package_dir} COMPONENT cpp)

configure_package_config_file(cmake/stictionConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/stictionConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/stictionConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/stictionConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/stictionConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT cpp)
