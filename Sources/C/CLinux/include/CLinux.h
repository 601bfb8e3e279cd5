#pragma once

// Not in Swift's Glibc module; see mallopt(3) and eventfd(2).
#include <malloc.h>
#include <sys/eventfd.h>

/// Number of arguments of the process, including its own name.
int CLinux_argumentCount(void);

/// Returns an argument, from 0 to the count less 1; valid until the process ends.
const char *CLinux_argument(int number);

/// Names the calling thread for `top -H` and debuggers; the kernel keeps 15 bytes. Wraps prctl(), which is variadic.
void CLinux_nameThread(const char *name);
