import Expectations

@testable import System
@testable import WebConfiguration

/// Reads the text of a web configuration. Any mistake must be an error of one line.
func checkWebConfiguration(_ input: [UInt8]) {
    do throws(SystemError) {
        let configuration = try WebConfiguration(text: input, path: "web.yml") {
            (path) throws(SystemError) in throw SystemError(.file, "\(path): not here")
        }
        for header in configuration.headers {
            expect(!header.value.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 }, "a header in two lines")
        }
        if let rateLimit = configuration.rateLimit {
            expect(rateLimit.interval > .zero && rateLimit.burst >= 0, "\(rateLimit)")
        }
    } catch {
        expectOneLine(error.reason)
    }
}
