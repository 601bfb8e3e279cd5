#pragma once

// Not in Swift's Glibc module.
#include <sys/eventfd.h>

/// Number of arguments of the process, including its own name.
int CStart_argumentCount(void);

/// Returns an argument, from 0 to the count less 1; valid until the process ends.
const char *CStart_argument(int number);

/// Names the calling thread for `top -H` and debuggers; the kernel keeps 15 bytes. Wraps prctl(), which is variadic.
void CStart_nameThread(const char *name);
