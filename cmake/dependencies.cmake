# Finds Eigen (3.4 or later, also 5.x) and OpenMP.
#
# Eigen's package is asked for without a version: the config file of Eigen 5 refuses a request for 3.4. A plain header
# directory will do as well: -D EIGEN3_INCLUDE_DIR=/path/to/eigen.
set(EIGEN3_INCLUDE_DIR "" CACHE PATH "Directory with Eigen/Core; empty: find_package(Eigen3)")

if(NOT TARGET Eigen3::Eigen)
  if(EIGEN3_INCLUDE_DIR)
    if(NOT EXISTS ${EIGEN3_INCLUDE_DIR}/Eigen/Core)
      message(FATAL_ERROR "amx_emulated: no Eigen/Core under EIGEN3_INCLUDE_DIR=${EIGEN3_INCLUDE_DIR}")
    endif()
    add_library(Eigen3::Eigen INTERFACE IMPORTED GLOBAL)
    target_include_directories(Eigen3::Eigen SYSTEM INTERFACE ${EIGEN3_INCLUDE_DIR})
  else()
    find_package(Eigen3 CONFIG REQUIRED)
    if(Eigen3_VERSION VERSION_LESS 3.4)
      message(FATAL_ERROR "amx_emulated needs Eigen 3.4 or later; found ${Eigen3_VERSION} in ${Eigen3_DIR}")
    endif()
  endif()
endif()

if(AMX_EMULATED_OPENMP)
  find_package(OpenMP COMPONENTS CXX)
  if(NOT OpenMP_CXX_FOUND)
    message(STATUS "amx_emulated: no OpenMP, products run on one thread")
  endif()
endif()
