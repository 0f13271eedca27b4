// The calling thread's reusable memory for line exponents, packed panels and sums.
#pragma once

#include "limits.hpp"

namespace amx::detail {

enum class WorkspacePart { exponents, panels };

/// At least `bytes` bytes, 64-byte aligned, uninitialised, valid until the next call on this thread for the same part.
/// \throws std::bad_alloc (the previous memory of this part is then gone as well)
std::byte* thread_workspace(WorkspacePart part, std::size_t bytes);

/// Hands out consecutive aligned pieces: first without memory to find the total, then over the workspace.
class Arena {
 public:
  explicit Arena(std::byte* base = nullptr) : base_(base) {}
  template <class T>
  T* take(index_t count) {
    T* piece = base_ ? reinterpret_cast<T*>(base_ + used_) : nullptr;
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return piece;
  }
  std::size_t used() const { return used_; }

 private:
  static constexpr std::size_t kAlignment = 64;
  std::byte* base_;
  std::size_t used_ = 0;
};

}  // namespace amx::detail
