internal import Glibc
internal import Synchronization
internal import System

/// Looks up names on a queue of its own: `getaddrinfo` can block for half a minute, and the loop has deadlines.
final class Resolver: Sendable {
    private struct State {
        var wanted: (number: Int, host: String)?
        var result: (Int, ConnectionState.ConnectionEvent)?
    }

    private let state = Mutex(State())
    private let queue = WorkQueue(name: "lookup", limit: 4)
    private let onResult: @Sendable () -> Void

    /// - Parameter onResult: called on another thread when `takeResult` has something.
    init(onResult: @escaping @Sendable () -> Void) {
        self.onResult = onResult
    }

    /// Begins a lookup; the result of one before it is forgotten. One that still runs for the same host serves both.
    func resolve(_ number: Int, host: String) {
        state.withLock { state in
            state.wanted = (number, host)
            state.result = nil
        }
        let isAccepted = queue.submit { [self] in
            guard state.withLock({ $0.wanted?.number }) == number else { return }
            finish(host, lookUp(host))
        }
        if !isAccepted { finish(host, .notResolved(detail: "earlier name lookups hang")) }
    }

    func takeResult() -> (number: Int, ConnectionState.ConnectionEvent)? {
        state.withLock { $0.result.take() }
    }

    private func finish(_ host: String, _ result: ConnectionState.ConnectionEvent) {
        state.withLock { state in
            guard let wanted = state.wanted, wanted.host == host else { return }
            state.wanted = nil
            state.result = (wanted.number, result)
        }
        onResult()
    }
}

/// Corresponds to `getaddrinfo`; the system's order is the one in which to try.
func lookUp(_ host: String) -> ConnectionState.ConnectionEvent {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    let result = unsafe getaddrinfo(host, nil, &hints, &first)
    guard result == 0 else {
        let reason = result == EAI_SYSTEM ? describe(errorNumber: errno) : unsafe String(cString: gai_strerror(result))
        return .notResolved(detail: "cannot look up \(host): \(reason)")
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
    return .resolved(addresses)
}

/// Corresponds to `getnameinfo`.
private func numericAddress(_ address: UnsafeMutablePointer<sockaddr>, _ length: socklen_t) -> String? {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let result = unsafe getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    guard result == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
