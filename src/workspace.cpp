// One growing buffer per thread and part. amx::release_workspace() is its public off switch.
#include "workspace.hpp"

#include <amx/options.hpp>

#include <memory>
#include <new>

namespace amx {
namespace detail {
namespace {

constexpr std::align_val_t kAlignment{64};

struct AlignedDelete {
  void operator()(std::byte* p) const { ::operator delete(p, kAlignment); }
};

struct Buffer {
  std::unique_ptr<std::byte, AlignedDelete> memory;
  std::size_t size = 0;

  void release() {
    memory.reset();
    size = 0;
  }
};

thread_local Buffer buffers[2];  // by WorkspacePart

}  // namespace

std::byte* thread_workspace(WorkspacePart part, std::size_t bytes) {
  Buffer& buffer = buffers[static_cast<int>(part)];
  if (bytes > buffer.size) {
    buffer.release();  // before allocating: the old content is not needed, and both need not fit
    buffer.memory.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment)));
    buffer.size = bytes;
  }
  return buffer.memory.get();
}

}  // namespace detail

void release_workspace() {
  for (detail::Buffer& buffer : detail::buffers) buffer.release();
}

}  // namespace amx
