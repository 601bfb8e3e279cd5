extension WebSocketAddress {
    /// Where a `Location` leads from here (RFC 3986, section 5.2; dots in a path are left to the server).
    func redirected(to location: String) throws(WebSocketAddressError) -> WebSocketAddress {
        let location = String(trimmed(location.prefix { $0 != "#" }))
        let next = try WebSocketAddress(absolute(location))
        guard next.isSecure || !isSecure else {
            throw WebSocketAddressError("it leaves wss:// for ws://")
        }
        return next
    }

    private func absolute(_ location: String) -> String {
        let schemes = ["ws://": "ws://", "wss://": "wss://", "http://": "ws://", "https://": "wss://"]
        for (given, meant) in schemes where location.lowercased().hasPrefix(given) {
            return meant + location.dropFirst(given.count)
        }
        if location.hasPrefix("//") { return "\(scheme):\(location)" }
        let here = "\(scheme)://\(bracketedHost):\(port)"
        if location.hasPrefix("/") { return here + location }
        let path = target.prefix { $0 != "?" }
        if location.hasPrefix("?") { return here + path + location }
        // A scheme that is none of ours; the initializer says so.
        if location.prefix(while: { $0 != "/" }).contains(":") { return location }
        let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        return here + folder + location
    }
}
