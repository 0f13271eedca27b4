// Version of the library; CMakeLists.txt reads the numbers from here, so that they stand in one place.
#pragma once

#define AMX_EMULATED_VERSION_MAJOR 0
#define AMX_EMULATED_VERSION_MINOR 1
#define AMX_EMULATED_VERSION_PATCH 0
