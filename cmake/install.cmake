# Installs libraries, headers and how to find them: find_package(bird_cuda) and pkg-config.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bird_cuda)

install(DIRECTORY include/bird TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.md")

# Two export sets, since only the static library has dependencies that a consumer must find.
foreach(kind shared static)
  set(target bird_cuda)
  if(kind STREQUAL "static")
    set(target bird_cuda_static)
  endif()
  install(TARGETS ${target} EXPORT ${kind}-targets)
  install(
    EXPORT ${kind}-targets
    FILE bird_cuda-${kind}-targets.cmake
    NAMESPACE bird::
    DESTINATION ${package_dir})
endforeach()

configure_package_config_file(cmake/bird_cuda-config.cmake.in ${PROJECT_BINARY_DIR}/bird_cuda-config.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Below 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bird_cuda-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bird_cuda-config.cmake ${PROJECT_BINARY_DIR}/bird_cuda-config-version.cmake
        DESTINATION ${package_dir})

# The .pc files find their prefix from where they lie, so that an installed tree may be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "^(.*)/$" "\${pcfiledir}/\\1" pc_prefix ${pc_prefix})
foreach(pc_name bird_cuda bird_cuda_static)
  if(pc_name MATCHES "static")
    set(pc_requires libhwy)
    set(pc_libs "${OpenMP_CXX_FLAGS} -lstdc++ -lm")
    if(BIRD_HAVE_CUDA)
      string(APPEND pc_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lpthread -ldl -lrt")
    endif()
  else()
    set(pc_requires "")
    set(pc_libs "")
  endif()
  configure_file(cmake/bird_cuda.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
