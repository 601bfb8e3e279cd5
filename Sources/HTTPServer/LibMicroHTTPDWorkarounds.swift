internal import CLibMicroHTTPD
internal import Glibc

// What libmicrohttpd 0.9.75 gets wrong or cannot do, and what is done instead. Each has a test that fails without it.
//
// Not here, because the whole of a file is about it:
// - It cannot stop listening while it runs: `MHD_quiesce_daemon` races with the daemon's thread, and the loser aborts the
//   process. Nor does it serve several sockets. So `HTTPAcceptor` accepts. (HTTPListenTests)
// - Its time-out begins again with each byte, so a client that sends or takes one now and then would stay for ever.
//   `HTTPConnections` has deadlines. (HTTPLimitsTests.slowLorisConnectionsAreHungUpOnAndHarmNobody, aSlowReaderIsHungUpOn)
// - It takes a certificate at its start and never another one. `TLSContext` gives each session its own.
//   (HTTPTLSTests.aNewCertificateReachesNewConnectionsAndKeepsOldOnes)
// - Its epoll loop takes 128 events at a time and, after exactly so many, waits for one more before it looks at any;
//   and it misses the end of a client that comes with its last bytes. Its poll loop does neither and costs a scrape the
//   same; each turn of it costs 0.5 ms with 2,000 connections open. (HTTPLimitsTests.requestsThatComeTogetherAreAllAnswered,
//   aClientThatLeavesAtOnceIsForgotten)

/// Bytes for each connection: what has come, the parsed fields, the answer's header and the list of its pieces. All of it
/// is zeroed after each request (`MHD_pool_reset`), so more costs time.
let connectionMemory = 24 * 1024

/// What libmicrohttpd takes of a connection's memory for each field: a `struct MHD_HTTP_Header` of 56 bytes, rounded.
private let fieldMemory = 64

/// How many pieces of an answer there is room for.
///
/// - Symptom: when the list of the pieces finds no room in the connection's memory, the library unlocks a mutex that it
///   does not hold, and aborts the process when it lets go of the response.
/// - Instead: several pieces only where there is room for certain. What has come takes half of the memory, as long as it
///   is shorter than that, and the rest is for fields, answer and list. How much has come the library does not say: empty
///   lines in front of a request stay in its memory and are in no length. The kernel does, for TCP; with TLS it counts
///   more than the library gets.
/// - Test: HTTPResponseTests.piecesFindRoomBesideEveryRequest.
func roomForPieces(on connection: HTTPConnection, fieldCount: Int, answerHeaderBytes: Int) -> Int {
    guard connection.tls == nil, let received = TCPInformation(of: connection.socket)?.receivedBytes,
        // The buffer begins to grow when a kilobyte is left of it.
        received - connection.headerBytesBefore <= connectionMemory / 2 - 1024
    else { return 1 }
    return max(1, (connectionMemory / 2 - answerHeaderBytes - fieldCount * fieldMemory) / 16)
}

/// The target of a request, where libmicrohttpd has it.
@safe struct MHDRequestTarget {
    private let start: UnsafePointer<CChar>

    init?(_ start: UnsafePointer<CChar>?) {
        guard let start = unsafe start else { return nil }
        unsafe self.start = start
    }

    /// How far it goes for C.
    var count: Int { unsafe strlen(start) }

    func parsed(limit: Int) -> HTTPRequestTarget {
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        return unsafe HTTPRequestTarget(
            parsing: Span(_unsafeElements: bytes.assumingMemoryBound(to: UInt8.self)), limit: limit)
    }

    /// Leaves nothing behind the `?`. To be called before libmicrohttpd reads the query.
    ///
    /// - Symptom: it takes the query apart at 64 bytes a parameter, forgets that it has refused the request when there is
    ///   no room for all of them, and never answers.
    /// - Instead: we read the query ourselves, before.
    /// - Test: HTTPServerTests.manyParametersAndCookies.
    func hideQuery() {
        if let query = unsafe strchr(start, Int32(UInt8(ascii: "?"))), unsafe query[1] != 0 { unsafe query[1] = 0 }
    }
}

extension MHDConnection {
    /// Has libmicrohttpd look for no content and no cookies. To be called before the header is read; false without room.
    ///
    /// - Symptom: what it refuses itself (two lengths, a length that is no number) it goes on with as if it had not, and
    ///   sends an answer with a second header in its content (`parse_connection_headers`, `transmit_error_response_len`).
    ///   So it does when the parsed form of the cookies finds no room.
    /// - Instead: it is shown a `Content-Length` of 0 and a short `Cookie` in front of all others, the first of a name
    ///   being the one that it follows. `HTTPFraming` judges those that were sent.
    /// - Test: HTTPGarbageTests.isRefused, HTTPServerTests.contentEndsTheConnection, manyParametersAndCookies.
    func hideContent() -> Bool { setHiddenFields() }

    /// How many fields `hideContent` puts in front of those that the client has sent.
    static let hiddenFieldCount = 2
}
