// Keeps the arguments that the C runtime passes to constructors. Swift's runtime looks on the stack or in /proc for
// them, and finds none without /proc, or if a preloaded library has moved the environment.

#include "CStart.h"

#include <sys/prctl.h>

static int count;
static char **arguments;

__attribute__((constructor)) static void keepArguments(int argumentCount, char **argumentValues) {
    count = argumentCount;
    arguments = argumentValues;
}

int CStart_argumentCount(void) { return count; }

const char *CStart_argument(int number) { return arguments[number]; }

void CStart_nameThread(const char *name) { prctl(PR_SET_NAME, name); }
