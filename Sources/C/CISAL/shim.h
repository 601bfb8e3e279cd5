#pragma once
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

// Too long for Swift's importer, as macros of macros are.
static const unsigned int CISAL_LEVEL_1_BUFFER_BYTES = ISAL_DEF_LVL1_SMALL;
