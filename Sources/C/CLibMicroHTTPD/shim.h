#pragma once
#include <linux/sockios.h>
#include <malloc.h>
#include <microhttpd.h>
#include <sys/ioctl.h>

/* Only what Swift cannot import: variadic functions, and unions as answers. */

/* MHD_start_daemon is variadic. One context serves all callbacks; the daemon never listens itself (flags hold
 * MHD_USE_NO_LISTEN_SOCKET), so there is no port. */
static inline struct MHD_Daemon *CLibMicroHTTPD_start(
    unsigned int flags, MHD_AccessHandlerCallback access, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connection,
    void *(*requestLine)(void *, const char *, struct MHD_Connection *), void *context,
    const struct MHD_OptionItem *options)
{
    return MHD_start_daemon(
        flags, 0, NULL, NULL, access, context,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_NOTIFY_CONNECTION, connection, context,
        MHD_OPTION_URI_LOG_CALLBACK, requestLine, context,
        MHD_OPTION_ARRAY, options,
        MHD_OPTION_END);
}

/* MHD_set_response_options is variadic. */
static inline void CLibMicroHTTPD_end_with_connection(struct MHD_Response *response)
{
    (void)MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

/* MHD_get_connection_info is variadic and answers with a union. */
static inline void *CLibMicroHTTPD_socket_context(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static inline int CLibMicroHTTPD_socket(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline size_t CLibMicroHTTPD_header_size(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

/* The gnutls_session_t of a TLS connection. */
static inline void *CLibMicroHTTPD_tls_session(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? info->tls_session : NULL;
}

/* The fields come in front of those that the client sends, if this is called before the header is read. The library
 * keeps the pointers, so the texts are constants. See LibMicroHTTPDWorkarounds.swift. */
static inline int CLibMicroHTTPD_hide_content(struct MHD_Connection *connection, int length)
{
    return (!length || MHD_set_connection_value(connection, MHD_HEADER_KIND, "Content-Length", "0") == MHD_YES)
        && MHD_set_connection_value(connection, MHD_HEADER_KIND, "Cookie", "-") == MHD_YES;
}

/* ioctl is variadic. Bytes that the socket's peer has not acknowledged; 0 when that cannot be known. */
static inline int CLibMicroHTTPD_unacknowledged(int socket)
{
    int bytes = 0;
    return ioctl(socket, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}
