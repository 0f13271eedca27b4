// Scope in which round to nearest even is in force, whatever mode the caller has set. One per thread that computes.
#pragma once

#include <cfenv>

namespace amx::detail {

class RoundToNearest {
 public:
  RoundToNearest() : saved_(std::fegetround()) {
    if (saved_ != FE_TONEAREST) std::fesetround(FE_TONEAREST);
  }
  ~RoundToNearest() {
    if (saved_ != FE_TONEAREST) std::fesetround(saved_);
  }
  RoundToNearest(const RoundToNearest&) = delete;
  RoundToNearest& operator=(const RoundToNearest&) = delete;

 private:
  int saved_;
};

}  // namespace amx::detail
