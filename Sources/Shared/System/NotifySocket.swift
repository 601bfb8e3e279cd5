internal import Glibc

/// The socket on which a systemd unit of `Type=notify` reports that it is ready and alive. See sd_notify(3): one
/// datagram of `NAME=value` lines to the address in `NOTIFY_SOCKET`.
public struct NotifySocket: Sendable {
    private let address: SocketAddress
    /// Maximum interval between two `WATCHDOG=1`; `nil` if the process has no watchdog.
    private let watchdogInterval: Duration?

    /// `nil` if systemd did not start the process, or expects no notifications.
    public init?(environment: [String: String] = environmentVariables()) {
        guard let address = environment["NOTIFY_SOCKET"].flatMap(Self.address(of:)) else { return nil }
        self.address = SocketAddress(unix: address)
        watchdogInterval = Self.watchdogInterval(environment: environment, process: getpid())
    }

    /// Sends a state such as `READY=1` or `STOPPING=1`; never blocks, so it is lost if systemd is not reading.
    public func send(_ state: String) {
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return }
        let socket = FileDescriptor(owning: number)
        let bytes = Array(state.utf8)
        _ = unsafe address.withPointer {
            unsafe sendto(socket.number, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), $0, $1)
        }
    }

    /// Tells systemd's watchdog that the process is alive; returns the time until the next call, `nil` if unused.
    public func feedWatchdog() -> Duration? {
        guard let watchdogInterval else { return nil }
        send("WATCHDOG=1")
        return watchdogInterval / 2
    }

    /// Bytes for `sun_path`: a path, or an abstract name, written with `@` in place of its leading NUL.
    static func address(of path: String) -> [UInt8]? {
        let bytes = Array(path.utf8)
        guard 2...SocketAddress.maximumPathBytes ~= bytes.count, !bytes.contains(0) else { return nil }
        return switch bytes[0] {
        case UInt8(ascii: "@"): [0] + bytes.dropFirst()
        case UInt8(ascii: "/"): bytes
        default: nil
        }
    }

    static func watchdogInterval(environment: [String: String], process: Int32) -> Duration? {
        if let owner = environment["WATCHDOG_PID"], Int32(owner) != process { return nil }
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        return microseconds > 0 ? .microseconds(microseconds) : nil
    }
}
