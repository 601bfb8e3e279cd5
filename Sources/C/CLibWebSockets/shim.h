#pragma once
#include <libwebsockets.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

/// Makes a log for one context, to be freed after it. libwebsockets 4.3 counts the users of a log without a lock, and
/// aborts on a wrong count, so threads cannot share the log of the process.
static inline void *CLibWebSockets_log(struct lws_context_creation_info *info) {
#ifdef LLLF_LOG_CONTEXT_AWARE
    info->log_cx = (lws_log_cx_t *)calloc(1, sizeof(lws_log_cx_t));
    return info->log_cx;
#else // Debian 12: libwebsockets 4.1 has a single log, without a count.
    (void)info;
    return NULL;
#endif
}
