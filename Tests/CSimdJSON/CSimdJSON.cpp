#include "CSimdJSON.h"

#include <limits>
#include <simdjson.h>

using namespace simdjson;

int CSimdJSON_judge(const uint8_t *bytes, size_t count) {
    dom::parser parser;
    dom::element element;
    error_code error = parser.parse(bytes, count, true).get(element);
    switch (error) {
    case SUCCESS: return 0;
    case NUMBER_ERROR: case STRING_ERROR: case DEPTH_ERROR: return 2;
    default: return 1;
    }
}

double CSimdJSON_number(const uint8_t *bytes, size_t count) {
    dom::parser parser;
    double number;
    if (parser.parse(bytes, count, true).get_double().get(number)) return std::numeric_limits<double>::quiet_NaN();
    return number;
}
