public import Bytes

/// A character of a token, such as the name of a header field (RFC 9110, section 5.6.2).
@inlinable
package func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true  // !#$%&'*+-.^_`|~
    default: isLetterOrDigit(byte)
    }
}

/// A byte of a header field's value: no control character but tab (RFC 9110, section 5.5).
@inlinable
package func isFieldContent(_ byte: UInt8) -> Bool {
    (byte >= 0x20 && byte != 0x7F) || byte == 0x09
}
