@testable import HTTPServer
@testable import WebSocket

/// What a peer sends after the handshake, read in one piece and in the pieces that the first bytes ask for: messages,
/// control frames and the end must be the same, and no message longer than the limit.
public func checkFrames(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    let isCompressed = input[0] & 1 != 0
    let limit = input[0] & 2 != 0 ? 64 : 1 << 16
    let stream = Array(input[2...])
    for sender in [FrameHeader.Sender.server, .client] {
        let whole = read(stream, from: sender, pieces: stream.count, limit: limit, isCompressed: isCompressed)
        let pieces = read(
            stream, from: sender, pieces: Int(input[1] & 15) + 1, limit: limit, isCompressed: isCompressed)
        expect(whole == pieces, "\(whole) and \(pieces)")
    }
}

private struct Outcome: Equatable {
    var messages: [[UInt8]] = []
    var controls: [FrameReader.Control] = []
    var violation: String?
}

private func read(
    _ stream: [UInt8], from sender: FrameHeader.Sender, pieces: Int, limit: Int, isCompressed: Bool
) -> Outcome {
    var outcome = Outcome()
    var reader = FrameReader(from: sender, maximumMessageBytes: limit, isCompressed: isCompressed)
    var position = 0
    do throws(ProtocolViolation) {
        while position < stream.count {
            let end = min(stream.count, position + pieces)
            var messages: [[UInt8]] = []
            var controls: [FrameReader.Control] = []
            defer {
                outcome.messages += messages
                outcome.controls += controls
            }
            try reader.read(
                stream.span.extracting(position..<end),
                onMessage: { kind, message in
                    expect(message.count <= limit, "a message of \(message.count)")
                    if case .tooLarge = kind { expect(message.isEmpty, "the bytes of a message that is too large") }
                    messages.append(Array("\(kind)".utf8) + message.indices.map { message[$0] })
                },
                onControl: { controls.append($0) })
            position = end
        }
    } catch {
        outcome.violation = error.description
        expectOneLine(error.description)
    }
    return outcome
}
