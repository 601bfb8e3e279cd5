import Expectations

@testable import WebSocket

/// Reads the bytes of a peer after the handshake, in one piece and in pieces that the first bytes select: messages,
/// control frames and the end must be the same, and no message longer than the limit.
func checkFrames(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    let compression: Compression? = input[0] & 1 == 0 ? nil : input[0] & 8 == 0 ? .withoutContext : .withContext
    let limit = input[0] & 2 != 0 ? 64 : 1 << 16
    let stream = input.span.extracting(droppingFirst: 2)
    let sender = input[0] & 4 != 0 ? FrameHeader.Sender.client : .server
    let whole = read(stream, from: sender, pieces: stream.count, limit: limit, compression: compression)
    let pieces = read(stream, from: sender, pieces: Int(input[1] & 15) + 1, limit: limit, compression: compression)
    expect(whole == pieces, "\(whole) and \(pieces)")
}

private struct Outcome: Equatable {
    struct Message: Equatable {
        var kind: WebSocketMessageKind
        /// The end of the message in the bytes of all messages.
        var end: Int
    }

    var messages: [Message] = []
    var bytes: [UInt8] = []
    var controls: [FrameReader.Event] = []
    var violation: String?
}

private func read(
    _ stream: Span<UInt8>, from sender: FrameHeader.Sender, pieces: Int, limit: Int, compression: Compression?
) -> Outcome {
    var outcome = Outcome()
    var reader = FrameReader(from: sender, maximumMessageBytes: limit, compression: compression)
    var position = 0
    do throws(ProtocolViolation) {
        while position < stream.count {
            let end = min(stream.count, position + pieces)
            var offset = 0
            while let event = try reader.next(stream.extracting(position..<end), at: &offset) {
                let kind: WebSocketMessageKind
                let message: [UInt8]
                switch event {
                case .message(let its, let bytes):
                    kind = its
                    message = bytes
                case .messageInPlace(let its, let range):
                    kind = its
                    message = range.map { stream[position + $0] }
                case .ping, .pong, .close:
                    outcome.controls.append(event)
                    continue
                }
                expect(message.count <= limit, "a message of \(message.count)")
                if case .tooLarge = kind { expect(message.isEmpty, "the bytes of a message that is too large") }
                outcome.bytes += message
                outcome.messages.append(Outcome.Message(kind: kind, end: outcome.bytes.count))
            }
            position = end
        }
    } catch {
        outcome.violation = error.description
        expectOneLine(error.description)
    }
    return outcome
}
