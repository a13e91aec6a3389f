# What `cmake --install` puts where. The component compile is all that a project
# needs that compiles kernels; tools are the other programs.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS furiosa-opt-mlir RUNTIME COMPONENT compile)
install(TARGETS furiosa-lsp-server furiosa-run furiosa-translate
  RUNTIME COMPONENT tools)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/FuriosaMLIR)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/FuriosaMLIRConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/FuriosaMLIRConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cmake/FuriosaMLIRConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/cmake/FuriosaMLIRConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/FuriosaMLIRConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FuriosaAddKernel.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FuriosaEmbed.cmake
  DESTINATION ${package_dir} COMPONENT compile)

install(FILES ${PROJECT_SOURCE_DIR}/docs/furiosa-opt-mlir-compile.1
  ${PROJECT_SOURCE_DIR}/docs/furiosa-opt-mlir-explain.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT compile)
install(FILES ${PROJECT_SOURCE_DIR}/tools/furiosa-opt-mlir/completion.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME furiosa-opt-mlir COMPONENT compile)
install(FILES ${PROJECT_SOURCE_DIR}/tools/furiosa-opt-mlir/_furiosa-opt-mlir
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT compile)
