internal import Glibc

/// One end of the socket between a ``JQProgram`` and its worker. A request is a text; the response is a text or an
/// error. Eight bytes before it have its length, of an error as −1 − length.
struct JQSocket {
    let descriptor: Int32

    /// - Returns: whether the other process took all of it.
    func send(_ text: Span<UInt8>, isError: Bool = false) -> Bool {
        var length = Int64(isError ? ~text.count : text.count)
        let isBegun = unsafe Glibc.send(descriptor, &length, 8, Int32(MSG_NOSIGNAL)) == 8
        return unsafe isBegun
            && text.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == $0.count
            }
    }

    /// - Returns: `nil` when the other process has ended.
    func receive() -> Result<[UInt8], JQError>? {
        var length: Int64 = 0
        guard unsafe recv(descriptor, &length, 8, Int32(MSG_WAITALL)) == 8 else { return nil }
        var text = [UInt8](repeating: 0, count: Int(length < 0 ? ~length : length))
        let count = unsafe text.isEmpty ? 0 : recv(descriptor, &text, text.count, Int32(MSG_WAITALL))
        guard count == text.count else { return nil }
        return length < 0 ? .failure(JQError(String(decoding: text, as: UTF8.self))) : .success(text)
    }
}
