#pragma once
#include <libwebsockets.h>
#include <openssl/x509v3.h>

/// `LWS_PRE` is an expression, which Swift does not import: the bytes that `lws_write` needs before a payload.
enum { CLibWebSockets_PRE = LWS_PRE };

/// A timer and whom it wakes: libwebsockets hands a timer's callback nothing but the address of its own part.
struct CLibWebSockets_timer {
    lws_sorted_usec_list_t sul;
    void *owner;
};
