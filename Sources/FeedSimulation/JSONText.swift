internal import Bytes

/// Appends a number as JavaScript prints it (ECMA-262, Number::toString): the shortest text that reads back, whole
/// numbers without a point. Swift prints the same digits.
package func append(_ number: Double, to bytes: inout [UInt8]) {
    if number == number.rounded(.towardZero) {
        bytes += String(Int(number)).utf8
    } else {
        bytes += number.description.utf8
    }
}

/// Appends UTF-8 as a JSON string, escaping only what RFC 8259 section 7 demands.
package func appendJSONString(_ text: Span<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for index in text.indices {
        let byte = text[index]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0..<0x20:
            bytes += "\\u\(hexadecimal(byte, digits: 4))".utf8
        default:
            bytes.append(byte)
        }
    }
    bytes.append(UInt8(ascii: "\""))
}
