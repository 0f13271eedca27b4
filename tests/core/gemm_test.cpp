// amx::gemm() as an interface: refused arguments with their messages, empty products, what is read, options, threads'
// reports, and what happens when memory runs out.
#include "environment.hpp"
#include "numerics/matrices.hpp"

#include <amx/detail/dispatch.hpp>
#include <amx/gemm.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <thread>

namespace {

long allocations_until_failure = -1;  // -1: none fails
long live_allocations = 0;

void* allocate(std::size_t size, std::size_t alignment) {
  if (allocations_until_failure == 0) throw std::bad_alloc();
  if (allocations_until_failure > 0) --allocations_until_failure;
  void* memory =
      alignment ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment) : std::malloc(size);
  if (!memory) throw std::bad_alloc();
  ++live_allocations;
  return memory;
}
void release(void* memory) {
  if (memory) --live_allocations;
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace {

using amx::Backend;
using amx::Options;
using amx::Verdict;
using Eigen::MatrixXd;
using Eigen::MatrixXf;

/// The message of the std::invalid_argument that `call` throws, or what else happened.
std::string refusal(const std::function<void()>& call) {
  try {
    call();
    return "no exception";
  } catch (const std::invalid_argument& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
}

struct Call {
  std::ptrdiff_t m = 4, n = 3, k = 5;
  double alpha = 1, beta = 0;
  std::ptrdiff_t a_row = 1, a_col = 4, b_row = 1, b_col = 5, c_row = 1, c_col = 4;
  int products = 10;
  Options options;
  bool null_a = false, null_b = false, null_c = false;

  Verdict operator()() const {
    return amx::gemm(m, n, k, alpha, null_a ? nullptr : a.data(), a_row, a_col, null_b ? nullptr : b.data(), b_row,
                     b_col, beta, null_c ? nullptr : const_cast<double*>(c.data()), c_row, c_col, products, options);
  }
  MatrixXd a = MatrixXd::Ones(4, 5), b = MatrixXd::Ones(5, 3), c = MatrixXd::Constant(4, 3, -99);
};

void expect_refused(const Call& call, const std::string& message) {
  const std::string what = refusal([&] { (void)call(); });
  EXPECT_NE(std::string::npos, what.find(message)) << what;
  EXPECT_EQ(MatrixXd::Constant(4, 3, -99), call.c);
}

TEST(Gemm, RefusedArguments) {
  const auto with = [](const auto& change) {
    Call call;
    change(call);
    return call;
  };
  expect_refused(with([](Call& c) { c.m = -1; }), "negative m, n or k");
  expect_refused(with([](Call& c) { c.n = -1; }), "negative m, n or k");
  expect_refused(with([](Call& c) { c.k = -1; }), "negative m, n or k");
  expect_refused(with([](Call& c) { c.a_row = -1; }), "negative stride of A");
  expect_refused(with([](Call& c) { c.b_col = -1; }), "negative stride of B");
  expect_refused(with([](Call& c) { c.c_col = -4; }), "negative stride of C");
  expect_refused(with([](Call& c) { c.c_row = 0; }), "zero stride of C");
  expect_refused(with([](Call& c) { c.c_col = 0; }), "zero stride of C");
  expect_refused(with([](Call& c) { c.null_a = true; }), "A is a null pointer");
  expect_refused(with([](Call& c) { c.null_b = true; }), "B is a null pointer");
  expect_refused(with([](Call& c) { c.null_c = true; }), "C is a null pointer");
  constexpr std::ptrdiff_t kHuge = std::numeric_limits<std::ptrdiff_t>::max();
  expect_refused(with([](Call& c) { c.a_col = kHuge / 8; }), "strides of A lead beyond");
  expect_refused(with([](Call& c) { c.b_row = kHuge / 2; }), "strides of B lead beyond");
  expect_refused(with([](Call& c) { c.m = c.n = c.k = kHuge; }), "lead beyond the address space");
  for (const int products : {0, -1, 2, 7, 9, 37, 1000})
    expect_refused(with([&](Call& c) { c.products = products; }), "double has 1, 3, 6, 10, 15, 21, 28 and 36");
  expect_refused(with([](Call& c) { c.options.backend = Backend::native; }), "no native product here");
  expect_refused(with([](Call& c) { c.options.threads = -1; }), "threads is negative");
  expect_refused(with([](Call& c) { c.options.backend = static_cast<Backend>(77); }), "not an enumerator");
  expect_refused(with([](Call& c) { c.options.out_of_range = static_cast<amx::OutOfRange>(-1); }), "not an enumerator");
  expect_refused(with([](Call& c) { c.options.policy = static_cast<amx::Policy>(2); }), "not an enumerator");
  const MatrixXf f = MatrixXf::Ones(2, 2);
  MatrixXf g = f;
  const std::string what =
      refusal([&] { (void)amx::gemm(2, 2, 2, 1.0f, f.data(), 1, 2, f.data(), 1, 2, 0.0f, g.data(), 1, 2, 10); });
  EXPECT_NE(std::string::npos, what.find("float has 1, 3, 6 and 9")) << what;
}

TEST(Gemm, EmptyProducts) {
  Call call;
  call.m = 0;
  call.null_a = call.null_c = true;
  EXPECT_EQ(Verdict::in_range, call());
  call = Call();
  call.n = 0;
  call.null_b = call.null_c = true;
  EXPECT_EQ(Verdict::in_range, call());
  call = Call();
  call.k = 0;
  call.null_a = call.null_b = true;
  call.beta = 0.5;
  EXPECT_EQ(Verdict::in_range, call());
  EXPECT_EQ(MatrixXd::Constant(4, 3, -49.5), call.c);
  call.beta = 0;
  call.c(1, 1) = std::nan("");
  EXPECT_EQ(Verdict::in_range, call());
  EXPECT_EQ(MatrixXd::Zero(4, 3), call.c);
  EXPECT_EQ(0, amx::last_report().k);
}

TEST(Gemm, WhatIsNotReadDoesNotMatter) {
  Call call;
  call.a(1, 1) = call.b(2, 2) = std::nan("");
  call.alpha = 0;
  call.beta = 2;
  EXPECT_EQ(Verdict::in_range, call());
  EXPECT_EQ(MatrixXd::Constant(4, 3, -198), call.c);
  call.null_a = call.null_b = true;
  EXPECT_EQ(Verdict::in_range, call());
  call = Call();
  call.c.setConstant(std::nan(""));
  EXPECT_EQ(Verdict::in_range, call());
  EXPECT_EQ(MatrixXd::Constant(4, 3, 5), call.c);
  call.c(0, 0) = std::nan("");
  call.beta = 1;
  EXPECT_EQ(Verdict::in_range, call());
  EXPECT_TRUE(std::isnan(call.c(0, 0)));
  EXPECT_EQ(10, call.c(1, 0));
}

TEST(Options, UnusableBackendIsAnErrorWithTheReason) {
  for (const amx::BackendInfo& backend : amx::backends()) {
    Call call;
    call.options.backend = backend.backend;
    if (backend.usable) {
      EXPECT_EQ("", backend.reason);
      EXPECT_EQ(Verdict::in_range, call());
      EXPECT_EQ(backend.name, amx::last_report().backend);
      continue;
    }
    EXPECT_FALSE(backend.reason.empty());
    try {
      (void)call();
      ADD_FAILURE() << backend.name;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string::npos, std::string(error.what()).find(std::string(backend.name))) << error.what();
      EXPECT_NE(std::string::npos, std::string(error.what()).find(std::string(backend.reason))) << error.what();
    }
    EXPECT_EQ(MatrixXd::Constant(4, 3, -99), call.c);
  }
  EXPECT_EQ("portable", amx::backends().back().name);
  EXPECT_TRUE(amx::backends().back().usable);
}

TEST(Options, Environment) {
  using amx::detail::parse_environment;
  EXPECT_EQ(Backend::automatic, parse_environment(nullptr, nullptr).backend);
  EXPECT_EQ(Backend::automatic, parse_environment("", "").backend);
  for (const Backend backend : {Backend::automatic, Backend::amx_bf16, Backend::avx512_bf16, Backend::avx2,
                                Backend::portable, Backend::native}) {
    const std::string name(to_string(backend));
    EXPECT_EQ(backend, parse_environment(name.c_str(), nullptr).backend);
    EXPECT_EQ("", parse_environment(name.c_str(), nullptr).error);
  }
  EXPECT_TRUE(parse_environment(nullptr, "1").verbose);
  EXPECT_FALSE(parse_environment(nullptr, "0").verbose);
  EXPECT_EQ(
      "amx: AMX_BACKEND=fast names no backend; it may be automatic, amx_bf16, avx512_bf16, avx2, portable, native",
      parse_environment("fast", nullptr).error);
  EXPECT_EQ("amx: AMX_VERBOSE=yes; it may be 0 or 1", parse_environment(nullptr, "yes").error);
}

TEST(Options, DefaultsAreChecked) {
  amx::Report report;
  Options options;
  options.report = &report;
  EXPECT_NE(std::string::npos, refusal([&] { amx::set_default_options(options); }).find("report pointer"));
  options = Options();
  options.threads = -1;
  EXPECT_NE(std::string::npos, refusal([&] { amx::set_default_options(options); }).find("threads"));
  options.threads = 3;
  amx::set_default_options(options);
  EXPECT_EQ(3, amx::default_options().threads);
  amx::set_default_options(Options());
  EXPECT_EQ(0, amx::default_options().threads);
  EXPECT_EQ("?", to_string(static_cast<Backend>(77)));
}

TEST(Report, BelongsToTheThread) {
  Call call;
  EXPECT_EQ(Verdict::in_range, call());
  std::thread([] {
    EXPECT_EQ("none", amx::last_report().backend);
    EXPECT_EQ(0, amx::last_report().products);
  }).join();
  EXPECT_EQ(10, amx::last_report().products);
}

// Whichever allocation fails, C is untouched and nothing leaks; afterwards everything works.
TEST(Memory, FailureLeavesC) {
  const MatrixXd a = MatrixXd::Constant(100, 300, 0.5), b = MatrixXd::Constant(300, 90, 0.25);
  const auto run = [&](MatrixXd& c) {
    return amx::gemm(100, 90, 300, 1.0, a.data(), 1, 100, b.data(), 1, 300, 1.0, c.data(), 1, 100, 21);
  };
  MatrixXd warm = MatrixXd::Zero(100, 90);
  EXPECT_EQ(Verdict::in_range, run(warm));
  int failures = 0;
  for (long n = 0;; ++n) {
    amx::release_workspace();
    const long live = live_allocations;
    MatrixXd c = MatrixXd::Constant(100, 90, 3);
    allocations_until_failure = n;
    try {
      const Verdict verdict = run(c);
      allocations_until_failure = -1;
      EXPECT_EQ(Verdict::in_range, verdict);
      EXPECT_EQ(MatrixXd::Constant(100, 90, 3 + 300 * 0.125), c);
      break;
    } catch (const std::bad_alloc&) {
      allocations_until_failure = -1;
      ++failures;
      EXPECT_EQ(MatrixXd::Constant(100, 90, 3), c);
    }
    amx::release_workspace();
    EXPECT_EQ(live, live_allocations);
  }
  EXPECT_EQ(2, failures);  // the exponents and the panels
}

TEST(Memory, IsReusedAndReleased) {
  Call call;
  EXPECT_EQ(Verdict::in_range, call());
  const long live = live_allocations;
  EXPECT_EQ(Verdict::in_range, call());
  EXPECT_EQ(live, live_allocations);
  amx::release_workspace();
  EXPECT_EQ(live - 2, live_allocations);
}

}  // namespace
