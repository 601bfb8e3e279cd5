internal import CMalloc

/// Has `free` give large blocks back to the system at once. Otherwise malloc(3) raises its own limits with the first
/// block of some megabytes that is freed, and each thread keeps up to twice as much for good.
///
/// Threads share four arenas. By default there are eight for each processor, and some megabytes stay behind in each of
/// them after a crowd of connections.
public func returnFreedMemory() {
    mallopt(M_ARENA_MAX, 4)
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    mallopt(M_TRIM_THRESHOLD, 4 << 20)
}
