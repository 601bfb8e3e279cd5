#pragma once
#include <link.h>

// <link.h> has both under _GNU_SOURCE alone, with which this module would contradict Swift's Glibc. See dl_iterate_phdr(3):
// the object has more members, depending on the version of glibc.
struct dl_phdr_info {
    ElfW(Addr) dlpi_addr;
    const char *dlpi_name;
    const ElfW(Phdr) *dlpi_phdr;
    ElfW(Half) dlpi_phnum;
};
int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data);
