// Prints every backend with "usable" or the reason why not.
#include <amx/options.hpp>

#include <iostream>

int main() {
  for (const amx::BackendInfo& backend : amx::backends())
    std::cout << backend.name << ": " << (backend.usable ? "usable" : backend.reason) << '\n';
}
