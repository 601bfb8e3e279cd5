/// The protocol versions by their names in the web configuration.
enum TLSVersion: String, CaseIterable {
    case tls10 = "TLS10"
    case tls11 = "TLS11"
    case tls12 = "TLS12"
    case tls13 = "TLS13"

    var gnuTLSName: String { "VERS-TLS1.\(rawValue.last!)" }
}
