# Install rules and the package: find_package(amx_emulated) gives amx::emulated.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS amx_emulated EXPORT amx_emulatedTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/amx DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/amx_emulated)
install(EXPORT amx_emulatedTargets NAMESPACE amx:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/amx_emulatedConfig.cmake.in
  ${PROJECT_BINARY_DIR}/amx_emulatedConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/amx_emulatedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/amx_emulatedConfig.cmake ${PROJECT_BINARY_DIR}/amx_emulatedConfigVersion.cmake
  DESTINATION ${package_dir})
