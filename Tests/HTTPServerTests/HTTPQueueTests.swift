import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import System

/// Requests whose responses are made on a work queue.
@Suite struct HTTPQueueTests {
    /// A server whose work waits for the test; `/now` is made on the serving thread.
    private final class Bench: Sendable {
        let queue = WorkQueue(name: "test")
        let made = Mutex<[String]>([])
        let endedStreams = Mutex(0)
        private let isHeld = Mutex(false)
        private let gate = try! WakePipe()
        let server: Mutex<HTTPServer?> = Mutex(nil)
        var http: HTTPServer { server.withLock { $0! } }

        init(limit: Int = 0, timeLimit: Duration = .seconds(600)) throws {
            let permits = RequestPermits(limit: limit)
            let server = try serve(
                { [queue] in
                    $0.handling = { request in
                        var handling = HTTPHandling()
                        guard request.path != "/now" else { return handling }
                        handling.isMetered = true
                        handling.permits = permits
                        handling.queue = queue
                        handling.timeLimit = timeLimit
                        handling.overdue = HTTPRefusal(500, "nothing came")
                        return handling
                    }
                    $0.limits.responseTimeout = .milliseconds(200)
                },
                respond: { [self] request in
                    if request.path == "/hold" {
                        isHeld.withLock { $0 = true }
                        _ = gate.wait(.seconds(60))
                    }
                    made.withLock { $0.append(request.path) }
                    if request.query == "stream" {
                        let stream = HTTPStream(isEndless: true, queue: queue, next: { .none }) { [self] in
                            endedStreams.withLock { $0 += 1 }
                        }
                        return HTTPResponse(status: 200, body: .stream(stream))
                    }
                    return HTTPResponse(status: 200, line: "\(request.path) \(request.header("x-a") ?? "")")
                })
            self.server.withLock { $0 = server }
        }

        /// A client whose request is under way on the queue's thread.
        func hold(query: String = "") throws -> RawHTTPClient {
            let client = try http.connect(from: 9)
            client.send(Self.get("/hold" + query))
            eventually("the work") { isHeld.withLock { $0 } }
            return client
        }

        /// Clients of one address whose requests wait on the queue.
        func waiting(_ paths: [String]) throws -> [RawHTTPClient] {
            try paths.enumerated().map { index, path in
                let client = try http.connect(from: 2)
                client.send(Self.get(path))
                wait(for: index + 1)
                return client
            }
        }

        func letGo() { gate.wake() }

        static func get(_ path: String, _ field: String = "") -> String {
            "GET \(path) HTTP/1.1\r\nHost: x\r\n\(field)\r\n"
        }

        func wait(for count: Int) { eventually("so much work") { queue.count == count } }
    }

    @Test func aRequestIsWhatItWasThere() throws {
        let bench = try Bench()
        let client = try bench.http.connect()
        #expect(try client.request("/x%20y?z", headers: ["X-A: 1", "x-a: 2"]).text == "/x y 1, 2\n")
        #expect(try client.request("/x", method: "HEAD").status == 200)
        client.send(Bench.get("/1") + Bench.get("/2") + Bench.get("/now"))
        for path in ["/1", "/2", "/now"] { #expect(try client.readAnswer().text == path + " \n") }
    }

    /// Clients of one address wait for each other; those of another get their turn, and what needs no work is served.
    @Test func clientsTakeTurns() throws {
        let bench = try Bench()
        let held = try bench.hold()
        let greedy = try bench.waiting(Array(repeating: "/greedy", count: 20))
        let other = try bench.http.connect(from: 1)
        other.send(Bench.get("/other"))
        bench.wait(for: 21)
        #expect(try bench.http.connect().request("/now").status == 200)
        bench.letGo()
        for client in [held, other] + greedy { #expect(try client.readAnswer().status == 200) }
        #expect(bench.made.withLock { $0.firstIndex(of: "/other") } == 3)
    }

    /// The permit comes before the work: what has none costs nothing.
    @Test func withoutAPermitNoWorkIsDone() throws {
        let bench = try Bench(limit: 3)
        let held = try bench.hold()
        let waiting = try bench.waiting(["/waits", "/waits"])
        #expect(try bench.http.connect(from: 2).request("/refused").status == 503)
        #expect(bench.queue.count == 2)
        bench.letGo()
        for client in [held] + waiting { #expect(try client.readAnswer().status == 200) }
        eventually("permits") { bench.http.statistics.requestsInFlight == 0 }
        #expect(try bench.http.connect(from: 2).request("/again").status == 200)
        #expect(bench.made.withLock { $0 } == ["/hold", "/waits", "/waits", "/again"])
    }

    /// The client with most permits loses one though its request still waits, and that work is not done.
    @Test func aWaitingRequestMakesRoom() throws {
        let bench = try Bench(limit: 3)
        let held = try bench.hold()
        let greedy = try bench.waiting(["/greedy0", "/greedy1"])
        let other = try bench.http.connect(from: 1)
        other.send(Bench.get("/other"))
        #expect((try? greedy[0].readToEnd())?.isEmpty != false)
        bench.wait(for: 3)
        bench.letGo()
        for client in [held, other, greedy[1]] { #expect(try client.readAnswer().status == 200) }
        #expect(Set(bench.made.withLock { $0 }) == ["/hold", "/other", "/greedy1"])
    }

    @Test(arguments: [true, false]) func workForAClientThatHasGoneIsNotDone(byReset: Bool) throws {
        let bench = try Bench(limit: 2)
        let held = try bench.hold()
        let client = try bench.http.connect(from: 2)
        client.send(Bench.get("/gone"))
        bench.wait(for: 1)
        if byReset { client.abort() } else { client.close() }
        // The permit is back before the turn comes.
        eventually("the permit") { bench.http.statistics.requestsInFlight == 1 }
        #expect(bench.queue.count == 1)
        bench.letGo()
        #expect(try held.readAnswer().status == 200)
        bench.wait(for: 0)
        #expect(try bench.http.connect().request("/next").status == 200)
        #expect(bench.made.withLock { $0 } == ["/hold", "/next"])
    }

    /// Its client goes while it is made: nobody begins it, and it is over.
    @Test func aStreamThatComesTooLateEnds() throws {
        let bench = try Bench()
        let client = try bench.hold(query: "?stream")
        client.close()
        eventually("the end of the request") { bench.http.statistics.requestsInFlight == 0 }
        bench.letGo()
        eventually("the end of the stream") { bench.endedStreams.withLock { $0 } == 1 }
    }

    @Test func whatIsNotMadeInTimeIsRefused() throws {
        let bench = try Bench(timeLimit: .milliseconds(200))
        let held = try bench.hold()
        let answer = try held.readAnswer()
        #expect(answer.status == 500 && answer.text == "nothing came\n")
        bench.letGo()
    }

    @Test func aStopDoesNotWaitForWorkThatHangs() throws {
        let bench = try Bench()
        let held = try bench.hold()
        bench.http.stop(within: .milliseconds(10))
        _ = try? held.readToEnd()
        bench.letGo()
    }
}
