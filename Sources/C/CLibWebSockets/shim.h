#pragma once
#include <libwebsockets.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

/// A log of this context alone, to be freed after it. libwebsockets 4.3 counts in a log what uses it, without a lock, and aborts
/// when the count goes wrong: the one of the process cannot be that of two threads.
static inline void *CLibWebSockets_log(struct lws_context_creation_info *info) {
#ifdef LLLF_LOG_CONTEXT_AWARE
    info->log_cx = (lws_log_cx_t *)calloc(1, sizeof(lws_log_cx_t));
    return info->log_cx;
#else // Debian 12: libwebsockets 4.1 has one log, and counts nothing.
    (void)info;
    return NULL;
#endif
}
