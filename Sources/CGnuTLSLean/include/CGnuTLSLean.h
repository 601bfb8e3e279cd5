#pragma once

/* Nothing to call: the linker finds here what GnuTLS asks for. */
