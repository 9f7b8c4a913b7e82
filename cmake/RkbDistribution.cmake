# What rkb is handed on as: a Debian package (target deb), an OCI image of it (target oci), and the documentation as a site (target site).
# Each target says which Debian package it lacks.
include_guard(GLOBAL)

set(RKB_PYTHON_FOLDER lib/python3/dist-packages CACHE STRING "Where an installation has the Python package, below its prefix")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/python/rkb" DESTINATION "${RKB_PYTHON_FOLDER}" FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rkb)
set(CPACK_PACKAGE_VENDOR "the rkb authors")
set(CPACK_PACKAGE_CONTACT "the rkb authors <nobody@localhost>")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finds fast CUDA kernels and proves most of the wrong ones wrong")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # what the programs and plugins link, by dpkg-shlibdeps
# NVRTC is NVIDIA's, and Debian 12 has none that is new enough: rkb doctor says where it comes from.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-pandas, python3-torch")
include(CPack)

# Programs find their parts by their own place, so the build for any prefix is the one that is packed.
add_custom_target(deb COMMAND "${CMAKE_CPACK_COMMAND}" -G DEB WORKING_DIRECTORY "${PROJECT_BINARY_DIR}" USES_TERMINAL)
add_custom_target(oci COMMAND bash "${PROJECT_SOURCE_DIR}/packaging/oci.sh" "${PROJECT_BINARY_DIR}" USES_TERMINAL)
add_dependencies(oci deb)
add_custom_target(site COMMAND bash "${PROJECT_SOURCE_DIR}/packaging/site.sh" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" USES_TERMINAL)
