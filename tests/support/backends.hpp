// The backends that this machine runs: what is promised of every backend is tested on each of them.
#pragma once

#include <amx/options.hpp>

#include <vector>

namespace test_support {

inline const std::vector<amx::Backend>& usable_backends() {
  static const std::vector<amx::Backend> usable = [] {
    std::vector<amx::Backend> list;
    for (const amx::BackendInfo& info : amx::backends())
      if (info.usable) list.push_back(info.backend);
    return list;
  }();
  return usable;
}

}  // namespace test_support
