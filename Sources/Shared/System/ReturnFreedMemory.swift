internal import CMalloc

/// Makes `free` return large blocks to the system at once. Otherwise malloc(3) raises its thresholds when a block of
/// some megabytes is first freed, and each thread retains up to twice as much for good.
///
/// Allows four arenas in all. The default is eight per processor, and each retains some megabytes after a burst of
/// connections.
public func returnFreedMemory() {
    mallopt(M_ARENA_MAX, 4)
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    mallopt(M_TRIM_THRESHOLD, 4 << 20)
}
