internal import Bytes

/// Whether the text is a host and, if there is a colon, a port of digits (RFC 3986, section 3.2), or empty. A comma is
/// not allowed, because it would make it a list, and neither is a user.
func isAuthority(_ text: some Collection<UInt8>) -> Bool {
    let isLiteral = text.first == UInt8(ascii: "[")
    let hostEnd = text.firstIndex(of: UInt8(ascii: isLiteral ? "]" : ":")) ?? text.endIndex
    let host = text[..<hostEnd]
    var port = text[hostEnd...]
    if isLiteral { port = port.dropFirst() }
    guard port.isEmpty || (port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy(isDigit)) else {
        return false
    }
    if isLiteral { return hostEnd != text.endIndex && isIPv6(host.dropFirst()) }
    return host.allSatisfy { isLetterOrDigit($0) || "-._~!$&'()*+;=%".utf8.contains($0) }
        && percentDecoded(Array(host)[...]) != nil
}

/// By its characters only; a zone may follow (RFC 6874).
private func isIPv6(_ text: some Collection<UInt8>) -> Bool {
    let address = text.prefix { $0 != UInt8(ascii: "%") }
    let zone = text.dropFirst(address.count)
    return address.count { $0 == UInt8(ascii: ":") } >= 2
        && address.allSatisfy { isDigit($0) || "abcdefABCDEF:.".utf8.contains($0) }
        && zone.allSatisfy { isLetterOrDigit($0) || "-._~%".utf8.contains($0) }
}
