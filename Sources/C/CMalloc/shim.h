#pragma once
// Not in Swift's Glibc. See mallopt(3).
#include <malloc.h>
