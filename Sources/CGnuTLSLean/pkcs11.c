/* GnuTLS asks p11-kit for keys and certificates that an address names (pkcs11:…), mostly of smart cards. Ours are PEM
 * in memory, so that p11-kit would only be loaded and bound at each start: Debian has it as a shared library alone. A
 * release, whose GnuTLS is static, therefore takes these instead.
 *
 * Each function answers as p11-kit does when there is no module, no memory for an address and no PIN, so GnuTLS refuses
 * such an address. What takes something that only these make is never called. */
#include "CGnuTLSLean.h"

#include <stddef.h>

enum { notSupported = 0x54 /* CKR_FUNCTION_NOT_SUPPORTED */, failed = -1 /* P11_KIT_URI_NO_MEMORY */ };

#define NULL_FROM(name) void *name(void); void *name(void) { return NULL; }
#define NUMBER_FROM(name, number) long name(void); long name(void) { return number; }
#define NOTHING_FROM(name) void name(void); void name(void) {}

NULL_FROM(p11_kit_config_option)
NULL_FROM(p11_kit_message)

const char *p11_kit_strerror(unsigned long error);
const char *p11_kit_strerror(unsigned long error)
{
    (void)error;
    return "this program has no p11-kit";
}

NULL_FROM(p11_kit_modules_load)
NULL_FROM(p11_kit_module_load)
NULL_FROM(p11_kit_module_get_name)
NUMBER_FROM(p11_kit_module_get_flags, 0)
NUMBER_FROM(p11_kit_module_finalize, notSupported)
NOTHING_FROM(p11_kit_module_release)

NULL_FROM(p11_kit_uri_new)
NUMBER_FROM(p11_kit_uri_parse, failed)
NUMBER_FROM(p11_kit_uri_format, failed)
NULL_FROM(p11_kit_uri_get_attribute)
NULL_FROM(p11_kit_uri_get_attributes)
NUMBER_FROM(p11_kit_uri_set_attribute, failed)
NULL_FROM(p11_kit_uri_get_module_info)
NULL_FROM(p11_kit_uri_get_token_info)
NULL_FROM(p11_kit_uri_get_pin_source)
NULL_FROM(p11_kit_uri_get_pin_value)
NUMBER_FROM(p11_kit_uri_match_module_info, 0)
NUMBER_FROM(p11_kit_uri_match_token_info, 0)
NOTHING_FROM(p11_kit_uri_free)

NULL_FROM(p11_kit_pin_file_callback)
NULL_FROM(p11_kit_pin_new_for_string)
NULL_FROM(p11_kit_pin_request)
NULL_FROM(p11_kit_pin_get_value)
NUMBER_FROM(p11_kit_pin_get_length, 0)
NUMBER_FROM(p11_kit_pin_register_callback, failed)
NOTHING_FROM(p11_kit_pin_unregister_callback)
NOTHING_FROM(p11_kit_pin_unref)

NULL_FROM(p11_kit_space_strdup)
NUMBER_FROM(p11_kit_space_strlen, 0)
