#pragma once
// Not in Swift's Glibc module; see mallopt(3).
#include <malloc.h>
