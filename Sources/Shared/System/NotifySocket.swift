internal import Glibc

/// The socket on which a systemd unit of `Type=notify` reports that it is ready and alive.
///
/// The protocol is that of sd_notify(3): one datagram of `NAME=value` lines to the address in `NOTIFY_SOCKET`.
public struct NotifySocket: Sendable {
    private let address: SocketAddress

    /// Maximum interval between two `WATCHDOG=1` (send twice as often); `nil` = no watchdog for this process.
    public let watchdogInterval: Duration?

    /// Fails when the process was not started by systemd or wants no notification.
    public init?(environment: [String: String] = environmentVariables()) {
        guard let path = environment["NOTIFY_SOCKET"], let address = Self.address(of: path) else { return nil }
        self.address = SocketAddress(unix: address)
        watchdogInterval = Self.watchdogInterval(environment: environment, process: getpid())
    }

    /// Sends states such as `READY=1`, `STOPPING=1`, `WATCHDOG=1`, `STATUS=…`. False when systemd does not take it at
    /// once, which a program can ignore; never blocks.
    @discardableResult
    public func send(_ state: String) -> Bool {
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return false }
        let socket = FileDescriptor(owning: number)
        let bytes = Array(state.utf8)
        let sent = unsafe address.withPointer {
            unsafe sendto(socket.number, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), $0, $1)
        }
        return sent == bytes.count
    }

    /// The bytes for `sun_path`: a path, or a name in the abstract space, written with `@` for its leading NUL.
    static func address(of path: String) -> [UInt8]? {
        var bytes = Array(path.utf8)
        guard bytes.count > 1, bytes.count <= unixAddressLimit, !bytes.contains(0) else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "@"): bytes[0] = 0
        case UInt8(ascii: "/"): break
        default: return nil
        }
        return bytes
    }

    static func watchdogInterval(environment: [String: String], process: Int32) -> Duration? {
        guard let text = environment["WATCHDOG_USEC"], let microseconds = Int64(text), microseconds > 0 else {
            return nil
        }
        if let owner = environment["WATCHDOG_PID"], Int32(owner) != process { return nil }
        return .microseconds(microseconds)
    }
}
