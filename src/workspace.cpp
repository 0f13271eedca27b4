// One growing buffer per thread and part. amx::release_workspace() is its public off switch.
#include "workspace.hpp"

#include <amx/options.hpp>

#include <new>

namespace amx {
namespace detail {
namespace {

constexpr std::align_val_t kAlignment{64};

/// Trivially destructible, so that a product in the destructor of a static object, after this thread's clean-up, finds
/// an empty buffer and not a dead one.
struct Buffer {
  std::byte* memory = nullptr;
  std::size_t size = 0;

  void release() {
    ::operator delete(memory, kAlignment);
    memory = nullptr;
    size = 0;
  }
};

thread_local Buffer buffers[2];  // by WorkspacePart

struct Cleanup {
  ~Cleanup() {
    for (Buffer& buffer : buffers) buffer.release();
  }
  void arm() {}  // a thread_local is constructed, and so destroyed, only if it is used
};
thread_local Cleanup cleanup;

}  // namespace

std::byte* thread_workspace(WorkspacePart part, std::size_t bytes) {
  Buffer& buffer = buffers[static_cast<int>(part)];
  if (bytes > buffer.size) {
    cleanup.arm();
    buffer.release();  // before allocating: the old content is not needed, and both need not fit
    buffer.memory = static_cast<std::byte*>(::operator new(bytes, kAlignment));
    buffer.size = bytes;
  }
  return buffer.memory;
}

}  // namespace detail

void release_workspace() {
  for (detail::Buffer& buffer : detail::buffers) buffer.release();
}

}  // namespace amx
