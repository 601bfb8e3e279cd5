/* GnuTLS makes itself ready before main, and libmicrohttpd asks for it there once more: a fourteenth of a start, and
 * 140 KB, for what only a server with TLS needs. In a release neither does: GnuTLS leaves it to the program that says so
 * with this macro, and the linker sends libmicrohttpd's call here (--wrap). */
#include "CGnuTLSLean.h"

#include <gnutls/gnutls.h>

GNUTLS_SKIP_GLOBAL_INIT

int __wrap_gnutls_global_init(void);
int __wrap_gnutls_global_init(void)
{
    return 0;
}

/* The linker's name for the function itself; nobody's without --wrap. */
int __real_gnutls_global_init(void) __attribute__((weak));

int CGnuTLSLean_start(void)
{
    return __real_gnutls_global_init ? __real_gnutls_global_init() : gnutls_global_init();
}
