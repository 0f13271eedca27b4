// Marks what the shared library exports; everything else is compiled with hidden visibility.
#pragma once

#if defined(__GNUC__)
#define AMX_EXPORT __attribute__((visibility("default")))
#else
#define AMX_EXPORT
#endif
