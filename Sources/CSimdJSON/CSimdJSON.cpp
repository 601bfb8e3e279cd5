#include "CSimdJSON.h"
#include <simdjson.h>
