import CZlib
import Expectations
import Glibc
import Synchronization

@testable import HTTPServer

/// Compresses the lines of a page as for a scrape: zlib must read the same text and find the same checksum. An input
/// that begins with `*` is repeated to fill 2 KB, because compressors look for repetition.
func checkCompression(_ input: [UInt8]) {
    var text = input
    if text.first == UInt8(ascii: "*") {
        while text.count < 2048 { text += text }
    }
    let gzip = Gzip(text)
    inflater.withLock { inflater in
        for end in [[], text] {
            let member = gzip.member(endingWith: end)
            expect(inflater.isInflated(member[0] + member[1], text + end), "something else came out of \(text)")
        }
    }
}

/// Shared by all inputs.
private let inflater = Mutex(Inflater())

/// Inflates with zlib, which does not compress our pages.
@safe private struct Inflater: ~Copyable {
    /// zlib keeps a pointer to it. Never freed, because it lives as long as the process.
    private let stream: UnsafeMutablePointer<z_stream>
    private var output: [UInt8] = []

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let result = unsafe inflateInit2_(stream, MAX_WBITS + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        expect(result == Z_OK, "zlib has no memory or another version")
    }

    /// Whether all of the bytes, a gzip member, inflate to the text and no more.
    mutating func isInflated(_ bytes: [UInt8], _ text: [UInt8]) -> Bool {
        unsafe inflateReset(stream)
        if output.count <= text.count { output = [UInt8](repeating: 0, count: 2 * text.count + 1) }
        let produced: Int? = unsafe bytes.withUnsafeBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                unsafe stream.pointee.avail_in = uInt(input.count)
                unsafe stream.pointee.next_out = output.baseAddress
                unsafe stream.pointee.avail_out = uInt(output.count)
                let result = unsafe inflate(stream, Z_FINISH)
                let isRead = unsafe stream.pointee.avail_in == 0 && result == Z_STREAM_END
                return isRead ? unsafe output.count - Int(stream.pointee.avail_out) : nil
            }
        }
        return unsafe produced == text.count && memcmp(output, text, text.count) == 0
    }
}
