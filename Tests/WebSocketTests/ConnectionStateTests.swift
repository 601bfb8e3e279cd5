import Bytes
import TestSupport
import Testing

@testable import WebSocket

/// A state machine without sockets, with a clock and its actions so far.
private final class Course {
    var state: ConnectionState
    var now = Duration.zero
    var random = 0.5
    var actions: [ConnectionState.Action] = []

    init(_ address: String = "ws://127.0.0.1:80/", change: (inout WebSocketClientConfiguration) -> Void = { _ in }) {
        var configuration = WebSocketClientConfiguration(address: try! WebSocketAddress(address))
        configuration.idleTimeout = .seconds(60)
        configuration.flagPrefix = "--"
        change(&configuration)
        state = ConnectionState(configuration)
    }

    func handle(_ event: ConnectionState.Event) { actions += state.handle(event, at: now, random: random) }

    func handle(_ event: ConnectionState.ConnectionEvent) { handle(.connection(state.connectionID, event)) }

    /// Lets time pass as the loop does: the timer fires at each deadline on the way.
    func pass(_ duration: Duration) {
        let end = now + duration
        while let deadline = state.nextDeadline, deadline <= end {
            now = max(now, deadline)
            handle(.timer)
            if state.nextDeadline == deadline { break }
        }
        now = end
    }

    func start() { handle(.timer) }

    func connect() {
        start()
        handle(.tcpConnected)
        handle(.requesting)
        handle(.answered(.accepted(nil, fields: [])))
    }

    var events: [WebSocketEvent] {
        actions.compactMap { if case .report(let event) = $0 { event } else { nil } }
    }

    var disconnects: [DisconnectReason] {
        events.compactMap { if case .disconnected(let reason, _, _, _) = $0 { reason } else { nil } }
    }

    var ends: [Int] {
        actions.compactMap { action in
            switch action {
            case .close(let connectionID, _), .abort(let connectionID): connectionID
            default: nil
            }
        }
    }

    var dials: [String] {
        actions.compactMap { if case .dial(_, let ipAddress) = $0 { ipAddress } else { nil } }
    }

    func forget() { actions = [] }
}

struct ConnectionStateTests {
    private static let accepted = ConnectionState.ConnectionEvent.answered(.accepted(nil, fields: []))
    private static let rejected = ConnectionState.ConnectionEvent.answered(.rejected(detail: "d", retryAfter: nil))
    private static let status1000 = ConnectionState.ConnectionEvent.closeFrame(try! CloseFrame(payload: [0x03, 0xE8]))

    /// An address, the events of the attempt so far, its end and the reason.
    @Test(
        arguments: [
            ("ws://host/", [], .notResolved(detail: "d"), .resolve), ("ws://host/", [], .resolved([]), .resolve),
            ("ws://127.0.0.1:80/", [], .ended, .refused), ("wss://127.0.0.1/", [.tcpConnected], .ended, .tls),
            // A file that cannot be used.
            ("wss://127.0.0.1/", [], .tlsFailed(detail: "d"), .tls),
            ("ws://127.0.0.1:80/", [.tcpConnected], .ended, .lost),
            ("wss://127.0.0.1/", [.tcpConnected, .requesting], .ended, .lost),
            ("ws://127.0.0.1:80/", [.tcpConnected, .requesting], rejected, .handshake),
            // Fields that cannot be obtained.
            ("ws://127.0.0.1:80/", [], rejected, .handshake),
            ("ws://127.0.0.1:80/", [.tcpConnected, .requesting, accepted], .ended, .lost),
            ("ws://127.0.0.1:80/", [.tcpConnected, .requesting, accepted], status1000, .closed),
            (
                "ws://127.0.0.1:80/", [.tcpConnected, .requesting, accepted], .violation(ProtocolViolation("d")),
                .protocolError
            ),
            ("wss://127.0.0.1/", [.tcpConnected, .requesting], .violation(ProtocolViolation("d")), .protocolError),
        ] as [(String, [ConnectionState.ConnectionEvent], ConnectionState.ConnectionEvent, DisconnectReason)])
    func `Each end of an attempt or a connection is one disconnect, however often it is reported`(
        address: String, steps: [ConnectionState.ConnectionEvent], end: ConnectionState.ConnectionEvent,
        reason: DisconnectReason
    ) {
        let course = Course(address)
        course.start()
        for step in steps { course.handle(step) }
        let connectionID = course.state.connectionID
        for _ in 0..<2 {
            course.handle(.connection(connectionID, end))
            course.handle(.connection(connectionID, .ended))
        }
        #expect(course.disconnects == [reason])
        #expect(course.ends == [connectionID])
        #expect(course.events.filter { $0 == .connecting }.count == 1)
        // The next attempt starts after half of the first bound, and not before.
        course.pass(.milliseconds(249))
        #expect(course.events.filter { $0 == .connecting }.count == 1)
        course.pass(.milliseconds(1))
        #expect(course.events.filter { $0 == .connecting }.count == 2)
    }

    @Test(arguments: 0..<4) func `The connect time-out covers the name lookup, TCP, TLS and the response`(steps: Int) {
        let course = Course("wss://host/") { $0.connectTimeout = .seconds(3) }
        course.start()
        let events: [ConnectionState.ConnectionEvent] = [.resolved(["1.1.1.1"]), .tcpConnected, .requesting]
        for event in events.prefix(steps) {
            course.pass(.milliseconds(500))
            course.handle(event)
        }
        course.pass(.seconds(3) - course.now - .milliseconds(1))
        #expect(course.disconnects == [])
        course.pass(.milliseconds(1))
        #expect(course.disconnects == [.timeout])
    }

    @Test func `The addresses of a name are tried in turn, each with its share of the time`() {
        let course = Course("ws://host/") { $0.connectTimeout = .seconds(9) }
        course.start()
        course.handle(.resolved(["::1", "10.0.0.1", "127.0.0.1"]))
        #expect(course.dials == ["::1"])
        course.handle(.ended)
        #expect(course.dials == ["::1", "10.0.0.1"])
        course.pass(.milliseconds(4499))
        #expect(course.dials == ["::1", "10.0.0.1"])
        course.pass(.milliseconds(1))
        #expect(course.dials == ["::1", "10.0.0.1", "127.0.0.1"])
        #expect(course.ends == [course.state.connectionID - 1])
        course.handle(.ended)
        #expect(course.disconnects == [.refused])
        #expect(course.events.filter { $0 == .connecting }.count == 1)
    }

    @Test func `An address that has accepted the connection has the whole connect time-out`() {
        let course = Course("ws://host/") { $0.connectTimeout = .seconds(8) }
        course.start()
        course.handle(.resolved(["::1", "127.0.0.1"]))
        course.handle(.tcpConnected)
        course.pass(.seconds(7))
        #expect(course.dials == ["::1"])
        course.pass(.seconds(1))
        #expect(course.disconnects == [.timeout])
    }

    @Test(arguments: ["answer", "end", "time"])
    func `A rejection whose body has not ended ends with what there is of it, within a second`(how: String) {
        let course = Course()
        course.start()
        course.handle(.tcpConnected)
        course.handle(.refusing(.rejected(detail: "d", serverWords: "Bad", retryAfter: nil)))
        course.pass(.milliseconds(999))
        course.handle(.refusing(.rejected(detail: "d", serverWords: "Bad: no", retryAfter: nil)))
        #expect(course.disconnects == [])
        switch how {
        case "answer": course.handle(.answered(.rejected(detail: "d", serverWords: "Bad: no", retryAfter: nil)))
        case "end": course.handle(.ended)
        default: course.pass(.milliseconds(1))
        }
        #expect(course.events.last == .disconnected(.handshake, detail: "d", serverWords: "Bad: no"))
    }

    @Test func `Retry-After delays the next attempt`() {
        let course = Course()
        course.start()
        course.handle(.answered(.rejected(detail: "status 503", retryAfter: .seconds(7))))
        #expect(course.events.last == .disconnected(.handshake, detail: "status 503", retryAfter: .seconds(7)))
        course.pass(.milliseconds(6999))
        #expect(course.dials.count == 1)
        course.pass(.milliseconds(1))
        #expect(course.dials.count == 2)
    }

    // MARK: Liveness

    @Test func `A silent peer is pinged, and disconnected when nothing follows`() {
        let course = Course()
        course.connect()
        course.pass(.seconds(15) - .milliseconds(1))
        #expect(!course.actions.contains(.ping(course.state.connectionID)))
        course.pass(.milliseconds(1))
        #expect(course.actions.contains(.ping(course.state.connectionID)))
        course.pass(.seconds(10) - .milliseconds(1))
        #expect(course.disconnects == [])
        course.pass(.milliseconds(1))
        #expect(course.disconnects == [.pongTimeout])
    }

    @Test func `Any received byte counts as a pong and, if something is sent as well, postpones the next ping`() {
        let course = Course { $0.idleTimeout = .zero }
        course.connect()
        for _ in 0..<10 {
            course.pass(.seconds(14))
            course.state.received(at: course.now)
            course.state.sent(at: course.now)
        }
        #expect(!course.actions.contains(.ping(course.state.connectionID)))
        for _ in 0..<3 {
            course.pass(.seconds(24))
            course.state.received(at: course.now)
        }
        #expect(course.actions.filter { $0 == .ping(course.state.connectionID) }.count == 3)
        #expect(course.disconnects == [])
    }

    @Test func `A peer that sends all the time gets a ping each interval in which nothing is sent`() {
        let course = Course { $0.idleTimeout = .zero }
        course.connect()
        func pass(seconds: Int) {
            for _ in 0..<seconds {
                course.pass(.seconds(1))
                course.state.received(at: course.now)
            }
        }
        var pings: Int { course.actions.count { $0 == .ping(course.state.connectionID) } }
        pass(seconds: 14)
        #expect(pings == 0)
        pass(seconds: 46)
        #expect(pings == 4)
        course.state.sent(at: course.now)
        pass(seconds: 14)
        #expect(pings == 4)
        pass(seconds: 1)
        #expect(pings == 5 && course.disconnects == [])
    }

    @Test(arguments: [false, true])
    func `A server that sends often enough for pings out of silence need not answer the others`(stops: Bool) {
        let course = Course { $0.idleTimeout = .zero }
        course.connect()
        for _ in 0..<20 {
            course.pass(.seconds(12))
            course.state.received(at: course.now)
        }
        #expect(course.disconnects == [])
        course.pass(stops ? .seconds(25) : .seconds(25) - .milliseconds(1))
        #expect(course.disconnects == (stops ? [.pongTimeout] : []))
    }

    @Test(arguments: [false, true])
    func `The end for a missing pong names the flag where the server has never answered a ping`(answers: Bool) {
        let course = Course()
        course.connect()
        if answers { course.state.receivedPong() }
        course.pass(.seconds(25))
        let advice = answers ? "" : "; the server has never answered one: try --ping-interval 0"
        #expect(course.events.last == .disconnected(.pongTimeout, detail: "no data within 10s after a ping" + advice))
    }

    @Test func `Subscriptions are sent again at their interval`() {
        let course = Course {
            $0.subscriptions = ["a"]
            $0.subscriptionInterval = .seconds(20)
            $0.pingInterval = .zero
        }
        course.connect()
        course.pass(.seconds(50))
        #expect(course.actions.filter { $0 == .subscribe(course.state.connectionID) }.count == 2)
    }

    @Test func `Bytes that complete no message do not restart the idle time-out`() {
        let course = Course()
        course.connect()
        for _ in 0..<59 {
            course.pass(.seconds(1))
            course.state.received(at: course.now)
        }
        #expect(course.disconnects == [])
        course.pass(.seconds(1))
        #expect(course.disconnects == [.idle])
    }

    @Test func `A whole message restarts the idle time-out, whose report has the flag and the counts`() {
        let course = Course { $0.pingInterval = .zero }
        course.connect()
        course.pass(.milliseconds(50_300))
        course.state.received(messages: 12, at: course.now)
        course.pass(.milliseconds(59_999))
        #expect(course.disconnects == [])
        course.pass(.milliseconds(1))
        let detail = "no complete message within --idle-timeout 1m, messages before: 12 in 50s"
        #expect(course.actions.contains(.report(.disconnected(.idle, detail: detail, retryAfter: nil))))
    }

    @Test func `A reason from the server is truncated and put on one line`() {
        let course = Course()
        course.start()
        course.handle(.tcpConnected)
        course.handle(.answered(.rejected(detail: "a\nb" + String(repeating: "x", count: 60_000), retryAfter: nil)))
        let detail = "a b" + String(repeating: "x", count: 297)
        #expect(course.actions.contains(.report(.disconnected(.handshake, detail: detail, retryAfter: nil))))
    }

    @Test func `Without pings and an idle time-out, a silent connection stays open`() {
        let course = Course {
            $0.pingInterval = .zero
            $0.idleTimeout = .zero
        }
        course.connect()
        course.forget()
        course.pass(.seconds(1_000_000))
        #expect(course.actions == [])
    }

    @Test(arguments: [(59, false, 2000), (60, false, 500), (9, true, 2000), (10, true, 500), (10, false, 2000)])
    func `A connection that lasts a minute, or ten seconds with a useful message, resets the back-off`(
        seconds: Int, isUseful: Bool, bound: Int
    ) {
        let course = Course { $0.idleTimeout = .zero }
        course.random = 0
        course.start()
        for _ in 0..<2 {
            course.handle(.ended)
            course.pass(.zero)
        }
        course.random = 1
        course.handle(.tcpConnected)
        course.handle(.answered(.accepted(nil, fields: [])))
        if isUseful { course.state.receivedUsefulMessage() }
        for _ in 0..<seconds {
            course.pass(.seconds(1))
            course.state.received(at: course.now)
        }
        course.handle(.ended)
        #expect(course.state.nextDeadline == course.now + .milliseconds(bound))
    }

    // MARK: Commands

    @Test(arguments: [false, true]) func `Reconnect ends an attempt or a connection, and dials at once`(isOpen: Bool) {
        let course = Course()
        if isOpen { course.connect() } else { course.start() }
        let connectionID = course.state.connectionID
        course.handle(.reconnect)
        #expect(course.disconnects == [.requested])
        #expect(course.ends == [connectionID])
        #expect(course.dials.count == 2)
        #expect(course.actions.contains(.close(connectionID, status: 1000)) == isOpen)
    }

    @Test func `Reconnect ignores Retry-After and resets the back-off`() {
        let course = Course()
        course.start()
        for _ in 0..<5 {
            course.handle(.ended)
            course.pass(.seconds(30))
        }
        course.handle(.answered(.rejected(detail: "status 503", retryAfter: .seconds(3600))))
        course.forget()
        course.handle(.reconnect)
        #expect(course.events == [.connecting])
        course.handle(.ended)
        #expect(course.state.nextDeadline == course.now + .milliseconds(250))
    }

    @Test func `Pause ends the connection, and resume dials at once`() {
        let course = Course()
        course.connect()
        course.forget()
        course.handle(.pause)
        course.handle(.pause)
        #expect(course.events == [.disconnected(.paused, detail: "pause requested", retryAfter: nil), .paused])
        #expect(course.state.nextDeadline == nil)
        course.forget()
        course.handle(.resume)
        course.handle(.resume)
        #expect(course.events == [.resumed, .connecting])
    }

    @Test func `Pause between two attempts is no disconnect, and reconnect resumes`() {
        let course = Course()
        course.start()
        course.handle(.ended)
        course.forget()
        course.handle(.pause)
        #expect(course.events == [.paused])
        course.handle(.reconnect)
        #expect(course.events == [.paused, .resumed, .connecting])
    }

    @Test(arguments: [true, false])
    func `Stop sends a close frame and waits at most a second for the connection to end`(ends: Bool) {
        let course = Course()
        course.connect()
        course.forget()
        let connectionID = course.state.connectionID
        course.handle(.stop)
        #expect(course.actions.first == .close(connectionID, status: 1001))
        #expect(course.disconnects == [.requested])
        if ends {
            course.handle(.ended)
        } else {
            course.pass(.milliseconds(999))
            #expect(!course.actions.contains(.finish))
            course.pass(.milliseconds(1))
        }
        #expect(course.actions.last == .finish)
        course.forget()
        for order in [ConnectionState.Event.reconnect, .pause, .resume, .stop, .timer] { course.handle(order) }
        #expect(course.actions == [])
    }

    @Test func `Stop before, during and between attempts finishes at once`() {
        let before = Course()
        before.handle(.stop)
        #expect(before.actions == [.finish])
        let during = Course()
        during.start()
        during.forget()
        during.handle(.stop)
        #expect(during.disconnects == [.requested])
        #expect(during.actions.last == .finish)
        let between = Course()
        between.start()
        between.handle(.ended)
        between.forget()
        between.handle(.stop)
        #expect(between.actions == [.finish])
    }

    @Test func `Random events never break the order of the reports`() {
        var random = SeededRandom(seed: 42)
        for _ in 0..<300 {
            let course = Course("wss://host/")
            course.start()
            for _ in 0..<200 {
                let event: ConnectionState.Event =
                    switch Int.random(in: 0..<16, using: &random) {
                    case 0: .reconnect
                    case 1: .pause
                    case 2, 3: .resume
                    case 4: .timer
                    default:
                        .connection(
                            course.state.connectionID - Int.random(in: 0...1, using: &random),
                            [
                                .resolved(["127.0.0.1", "127.0.0.2"]), .resolved(["127.0.0.1"]),
                                .notResolved(detail: "d"), .tcpConnected, .requesting,
                                .answered(.accepted(.withContext, fields: [])),
                                .answered(.rejected(detail: "d", retryAfter: .seconds(1))),
                                .closeFrame(try! CloseFrame(payload: [])), .violation(ProtocolViolation("v")),
                                .ended, .tlsFailed(detail: "d"),
                            ].randomElement(using: &random)!)
                    }
                course.handle(event)
                course.pass(.milliseconds(Int.random(in: 0..<20_000, using: &random)))
            }
            var isUnderWay = false
            for event in course.events {
                switch event {
                case .connecting:
                    #expect(!isUnderWay)
                    isUnderWay = true
                case .connected: #expect(isUnderWay)
                case .disconnected:
                    #expect(isUnderWay)
                    isUnderWay = false
                case .paused, .resumed: #expect(!isUnderWay)
                }
            }
        }
    }
}
