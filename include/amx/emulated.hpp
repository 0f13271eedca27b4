// amx::emulated<N>(A) * B: an Eigen product computed from N BF16 component products.
//
//     #include <amx/emulated.hpp>
//     C.noalias() = amx::emulated<10>(A) * B;
//
// This is the header for Eigen users. docs/expressions.md says which forms there are and what each costs; amx/gemm.hpp
// is the same on pointers, without Eigen. To read the implementation, start at eigen/tag.hpp, then eigen/product.hpp.
#pragma once

#include <amx/options.hpp>
#include <amx/products.hpp>
#include <amx/report.hpp>
#include <amx/version.hpp>

#include <amx/eigen/product.hpp>
#include <amx/eigen/refusals.hpp>
#include <amx/eigen/rewrites.hpp>
#include <amx/eigen/tag.hpp>
#include <amx/eigen/triangular.hpp>
