#pragma once
#include <jq.h>
#include <spawn.h>

// Swift's module of the C library leaves out GNU's extensions: glibc declares it for C with _GNU_SOURCE only.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
