/// FNV-1a, 64 bits: the same in every process. Anyone can make bytes collide, so it is never the key of a table.
package func fnv1a(_ bytes: Span<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in bytes.indices { hash = (hash ^ UInt64(bytes[index])) &* 0x0000_0100_0000_01B3 }
    return hash
}
