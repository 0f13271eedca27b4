// Products before main(), after it, and in the destructor of a thread-local object: the workspace must be alive or
// empty.
#include <amx/emulated.hpp>

#include <cstdlib>
#include <thread>

namespace {

bool product_is_right() {
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(40, 40);
  const Eigen::MatrixXd c = amx::emulated(a) * a;
  return (c - a * a).norm() < 1e-12;
}

struct AtBothEnds {
  AtBothEnds() {
    if (!product_is_right()) std::abort();
  }
  ~AtBothEnds() {
    if (!product_is_right()) std::abort();
  }
};

const AtBothEnds of_the_program;
thread_local const AtBothEnds of_the_thread;

}  // namespace

int main() {
  std::thread([] { (void)&of_the_thread; }).join();
  return product_is_right() ? 0 : 1;
}
