#pragma once

// Swift's module of glibc does not have it.
#include <sys/eventfd.h>

/// Number of the arguments that the process was started with, its own name among them.
int CStart_argumentCount(void);

/// An argument, from 0 to the count without 1; it stays for as long as the process lives.
const char *CStart_argument(int number);

/// Names the calling thread for `top -H` and debuggers; the kernel keeps 15 bytes. Swift imports no variadic functions.
void CStart_nameThread(const char *name);
