#pragma once

/* Before any other function of GnuTLS. Corresponds to gnutls_global_init. */
int CGnuTLSLean_start(void);
