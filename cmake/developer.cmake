# Warnings for this project's own targets: amx_emulated_warnings is linked privately and never exported.
add_library(amx_emulated_warnings INTERFACE)
if(AMX_EMULATED_DEVELOPER AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(amx_emulated_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wold-style-cast -Wundef
    -Wnon-virtual-dtor -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # gcc 12 reports it, wrongly, of AVX-512 intrinsics and inside Eigen 5
    target_compile_options(amx_emulated_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # GoogleTest's TYPED_TEST_SUITE() leaves its variadic part out
    target_compile_options(amx_emulated_warnings INTERFACE -Wno-gnu-zero-variadic-macro-arguments)
  endif()
  if(NOT OpenMP_CXX_FOUND)
    target_compile_options(amx_emulated_warnings INTERFACE -Wno-unknown-pragmas)
  endif()
endif()
