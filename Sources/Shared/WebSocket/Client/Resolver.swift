internal import Glibc
internal import Synchronization
internal import System

/// Looks up names on a queue of its own: `getaddrinfo` can block for half a minute, and the loop has deadlines.
final class Resolver: Sendable {
    private let wanted = Mutex<(number: Int, host: String)?>(nil)
    private let queue = WorkQueue(name: "lookup", limit: 4)
    private let onResult: @Sendable (_ number: Int, ConnectionState.ConnectionEvent) -> Void

    /// - Parameter onResult: called on another thread.
    init(onResult: @escaping @Sendable (_ number: Int, ConnectionState.ConnectionEvent) -> Void) {
        self.onResult = onResult
    }

    /// Begins a lookup; one before it is forgotten, unless it still runs for the same host and serves both.
    func resolve(_ number: Int, host: String) {
        wanted.withLock { $0 = (number, host) }
        let isAccepted = queue.submit { [self] in
            guard wanted.withLock({ $0?.number }) == number else { return }
            do throws(SystemError) {
                finish(host, .resolved(try lookUp(host)))
            } catch {
                finish(host, .notResolved(detail: error.reason))
            }
        }
        if !isAccepted { finish(host, .notResolved(detail: "earlier name lookups hang")) }
    }

    private func finish(_ host: String, _ result: ConnectionState.ConnectionEvent) {
        let number = wanted.withLock { wanted -> Int? in
            guard wanted?.host == host else { return nil }
            return wanted.take()?.number
        }
        if let number { onResult(number, result) }
    }
}

/// Corresponds to `getaddrinfo`; the system's order is the one in which to try.
func lookUp(_ host: String) throws(SystemError) -> [String] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    let result = unsafe getaddrinfo(host, nil, &hints, &first)
    guard result == 0 else {
        let reason = result == EAI_SYSTEM ? describe(errorNumber: errno) : unsafe String(cString: gai_strerror(result))
        throw SystemError(.address, "cannot look up \(host): \(reason)")
    }
    defer { unsafe freeaddrinfo(first) }
    var addresses: [String] = []
    var next = unsafe first
    while let entry = unsafe next {
        if let address = unsafe numericAddress(entry.pointee.ai_addr, entry.pointee.ai_addrlen),
            !addresses.contains(address)
        {
            addresses.append(address)
        }
        unsafe next = unsafe entry.pointee.ai_next
    }
    return addresses
}

/// Corresponds to `getnameinfo`.
private func numericAddress(_ address: UnsafeMutablePointer<sockaddr>, _ length: socklen_t) -> String? {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let result = unsafe getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    guard result == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
