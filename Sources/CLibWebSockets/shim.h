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

/// Adds a field to the answer that LWS_CALLBACK_ADD_HEADERS hands out room for; not 0 when the room is too small.
static inline int CLibWebSockets_addHeader(struct lws *wsi, void *in, const char *name, const char *value)
{
    struct lws_process_html_args *room = (struct lws_process_html_args *)in;
    unsigned char *end = (unsigned char *)room->p + room->max_len;
    if (lws_add_http_header_by_name(wsi, (const unsigned char *)name, (const unsigned char *)value,
                                    (int)strlen(value), (unsigned char **)&room->p, end))
        return 1;
    room->max_len = (int)(end - (unsigned char *)room->p);
    return 0;
}
