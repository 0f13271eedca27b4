// A function that fills a buffer and multiplies tiles from it: the wrappers of amx_tiles.hpp must keep the compiler
// from deleting or delaying the writes, which the intrinsics of gcc 12 do not prevent. Compiled with -O2 and with -O3.
#include "kernels/amx_tiles.hpp"
#include "support/amx_trap.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace {

std::uint16_t bf16(int x) {
  const float value = static_cast<float>(x);
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

/// Configures, packs constants, multiplies, in one function.
void pack_and_multiply(int first, float* result) {
  using namespace amx::detail;
  tile_configure(full_tiles());
  alignas(64) std::uint16_t a[512], b[512];
  for (int i = 0; i < 512; ++i) {
    a[i] = bf16(first + i / 32);
    b[i] = bf16(1 + i % 32 / 2);
  }
  tile_memory_barrier();
  tile_zero<0>();
  tile_load<6>(a);
  tile_load<7>(b);
  tile_multiply<0, 6, 7>();
  for (int i = 0; i < 512; ++i) a[i] = bf16(i / 32);  // a second packing of the same buffer
  tile_memory_barrier();
  tile_load<6>(a);
  tile_multiply<0, 6, 7>();
  tile_store<0>(result);
  _tile_release();
}

TEST(Barrier, WritesReachTheTiles) {
  ASSERT_NE(amx_trap::Mode::kUnsupported, amx_trap::install());
  float result[256];
  pack_and_multiply(3, result);
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) EXPECT_EQ(32.0f * static_cast<float>((3 + 2 * m) * (1 + n)), result[16 * m + n]);
  EXPECT_EQ("", amx_trap::faults());
}

}  // namespace
