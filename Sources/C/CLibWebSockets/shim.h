#pragma once
#include <libwebsockets.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

/// A timer and whom it wakes: libwebsockets hands a timer's callback nothing but the address of its own part.
struct CLibWebSockets_timer {
    lws_sorted_usec_list_t sul;
    void *owner;
};
