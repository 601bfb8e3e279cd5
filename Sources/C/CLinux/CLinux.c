// Keeps the arguments that the C runtime passes to constructors. Swift's runtime looks on the stack or in /proc for
// them, and finds none without /proc, or if a preloaded library has moved the environment.

#include "CLinux.h"

#include <sys/prctl.h>

static int count;
static char **arguments;

__attribute__((constructor)) static void keepArguments(int argumentCount, char **argumentValues) {
    count = argumentCount;
    arguments = argumentValues;
}

int CLinux_argumentCount(void) { return count; }

const char *CLinux_argument(int number) { return arguments[number]; }

void CLinux_nameThread(const char *name) { prctl(PR_SET_NAME, name); }
