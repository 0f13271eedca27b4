// The engines that this machine runs, and portable ones with odd tile shapes: nothing above a kernel may assume a
// layout.
#pragma once

#include "backend_list.hpp"
#include "kernels/portable_engine.hpp"
#include "support/backends.hpp"

#include <vector>

namespace numerics_test {

using amx::detail::BlockSizes;
using amx::detail::Engine;

namespace odd {

// mr nr kr, tile rows and columns, mc nc kc
constexpr BlockSizes kSmall = {5, 7, 10, 5, 7, 15, 14, 70};
constexpr BlockSizes kTiled = {6, 12, 6, 3, 4, 12, 24, 96};
constexpr BlockSizes kLongStep = {3, 2, 32, 3, 1, 30, 30, 64};
constexpr BlockSizes kResidual = {3, 5, 32, 3, 5, 9, 10, 256};

template <const BlockSizes& Blocks>
constexpr BlockSizes kForAll[8] = {Blocks, Blocks, Blocks, Blocks, Blocks, Blocks, Blocks, Blocks};

inline const Engine<double> kSmallDigits = {kForAll<kSmall>,
                                            amx::detail::run_digits<amx::detail::TileShape<5, 7, 10, 5, 7>>};
inline const Engine<double> kTiledDigits = {kForAll<kTiled>,
                                            amx::detail::run_digits<amx::detail::TileShape<6, 12, 6, 3, 4>>};
inline const Engine<double> kLongDigits = {kForAll<kLongStep>,
                                           amx::detail::run_digits<amx::detail::TileShape<3, 2, 32, 3, 1>>};
inline const Engine<float> kOddResiduals = {kForAll<kResidual>,
                                            amx::detail::run_residuals<amx::detail::TileShape<3, 5, 32, 3, 5>>};

}  // namespace odd

inline std::vector<const Engine<double>*> digit_engines() {
  std::vector<const Engine<double>*> engines = {&odd::kSmallDigits, &odd::kTiledDigits, &odd::kLongDigits};
  for (const amx::Backend backend : test_support::usable_backends())
    engines.push_back(&amx::detail::choose_backend(backend).engine<double>());
  return engines;
}

struct ResidualEngine {
  const Engine<float>* engine;
  amx::Backend backend;  // whose rule of summation it follows
};

inline std::vector<ResidualEngine> residual_engines() {
  std::vector<ResidualEngine> engines = {{&odd::kOddResiduals, amx::Backend::portable}};
  for (const amx::Backend backend : test_support::usable_backends())
    engines.push_back({&amx::detail::choose_backend(backend).engine<float>(), backend});
  return engines;
}

}  // namespace numerics_test
