/// The groups for ECDHE key exchange by their names in Go, in the default order.
enum TLSCurve: String, CaseIterable {
    case x25519 = "X25519"
    case p256 = "CurveP256"
    case p384 = "CurveP384"
    case p521 = "CurveP521"

    var gnuTLSName: String { self == .x25519 ? "GROUP-X25519" : "GROUP-SECP\(rawValue.suffix(3))R1" }
}
