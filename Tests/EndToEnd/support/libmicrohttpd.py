"""The libmicrohttpd that the exporter is linked with."""

import ctypes

LIBRARY = ctypes.CDLL("libmicrohttpd.so.12")
LIBRARY.MHD_get_version.restype = ctypes.c_char_p
#: Since version 1, it rejects malformed requests itself, with its own page.
REJECTS = not LIBRARY.MHD_get_version().startswith(b"0.")
