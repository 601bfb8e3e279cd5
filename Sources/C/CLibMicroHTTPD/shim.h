#pragma once
#include <malloc.h>
#include <microhttpd.h>

/* The first two wrap functions that Swift cannot import, because they are variadic. */

/* MHD_start_daemon is variadic. All callbacks get the same context; the port is 0, as the options have a socket. */
static inline struct MHD_Daemon *CLibMicroHTTPD_start(
    unsigned int flags, MHD_AcceptPolicyCallback accept, MHD_AccessHandlerCallback access,
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback connection,
    void *(*requestLine)(void *, const char *, struct MHD_Connection *), void *context,
    const struct MHD_OptionItem *options)
{
    return MHD_start_daemon(
        flags, 0, accept, context, access, context,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_NOTIFY_CONNECTION, connection, context,
        MHD_OPTION_URI_LOG_CALLBACK, requestLine, context,
        MHD_OPTION_ARRAY, options,
        MHD_OPTION_END);
}

/* MHD_get_connection_info is variadic. All bits are zero if the connection has no such property. */
static inline union MHD_ConnectionInfo CLibMicroHTTPD_info(
    struct MHD_Connection *connection, enum MHD_ConnectionInfoType type)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, type);
    return info ? *info : (union MHD_ConnectionInfo){0};
}

/* Puts fields in front of the client's, if called before the header is parsed. The library keeps the pointers, so the
 * strings are constants. See LibMicroHTTPD.swift. */
static inline int CLibMicroHTTPD_hide_content(struct MHD_Connection *connection, int all)
{
    return (!all
            || (MHD_set_connection_value(connection, MHD_HEADER_KIND, "Content-Length", "0") == MHD_YES
                && MHD_set_connection_value(connection, MHD_HEADER_KIND, "Expect", "-") == MHD_YES))
        && MHD_set_connection_value(connection, MHD_HEADER_KIND, "Cookie", "-") == MHD_YES;
}
