# Builds and runs the consumer project against the library.
#
#   cmake -D MODE=static|shared|subdirectory -D SOURCE=.. -D WORK=.. -D COMPILER=.. -D FLAGS=.. -D EIGEN=.. -P package.cmake
# static and shared: the library is built, installed and moved (a package must be relocatable), then found.
file(REMOVE_RECURSE ${WORK})
set(common -G Ninja -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS=${FLAGS}"
           "-DEIGEN3_INCLUDE_DIR=${EIGEN}")

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nfailed:\n${output}")
  endif()
endfunction()

if(MODE STREQUAL "subdirectory")
  set(find -D AMX_SOURCE_DIR=${SOURCE} "-DEXPECTED_CXX_FLAGS=${FLAGS}")
else()
  set(shared OFF)
  if(MODE STREQUAL "shared")
    set(shared ON)
  endif()
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/library ${common} -D BUILD_SHARED_LIBS=${shared}
      -D AMX_EMULATED_TESTS=OFF -D AMX_EMULATED_EXAMPLES=OFF)
  run(${CMAKE_COMMAND} --build ${WORK}/library)
  run(${CMAKE_COMMAND} --install ${WORK}/library --prefix ${WORK}/prefix)
  file(RENAME ${WORK}/prefix ${WORK}/moved)
  set(find -D CMAKE_PREFIX_PATH=${WORK}/moved)
endif()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/consumer ${common} ${find})
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${WORK}/consumer/consumer)
