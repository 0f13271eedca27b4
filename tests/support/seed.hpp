// The seed of random tests: printed with every failure of a test that draws from generator(), taken from AMX_TEST_SEED.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace test_support {

inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* text = std::getenv("AMX_TEST_SEED");
    return text ? std::strtoull(text, nullptr, 10) : 20260904ull;
  }();
  return value;
}

/// One generator for the program, seeded anew before every test, so that a test alone sees what it sees among others.
inline std::mt19937_64& generator() {
  static std::mt19937_64 engine(seed());
  return engine;
}

class SeedListener : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { generator().seed(seed()); }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) std::printf("seed: AMX_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed()));
  }
};

inline const bool kSeedListenerInstalled = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new SeedListener);
  return true;
}();

}  // namespace test_support
