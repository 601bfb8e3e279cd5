internal import AirQualityIndex
internal import Bytes
internal import FoundationEssentials

/// Values of a document at most. Each takes some fifty bytes while it is read, and the longest real document, a
/// thousand locations of OpenAQ, has a third of them.
private let maximumValues = 300_000

/// Decodes a source's document; the error says where it is not as documented, or what the source says in its place.
func decoded<Document: Decodable>(_ type: Document.Type, from body: [UInt8]) throws(SourceError) -> Document {
    guard body.count(where: { ",[{".utf8.contains($0) }) <= maximumValues else {
        throw .unreadable("it has more than \(maximumValues) values")
    }
    if let refusal = Refusal(body), refusal.isError {
        throw SourceError(vendorMessage: refusal.explanation ?? "it gives no reason")
    }
    do {
        return try JSONDecoder().decode(type, from: Data(body))
    } catch let error as DecodingError {
        throw .unreadable(words(for: error))
    } catch {
        throw .unreadable("it is no JSON")
    }
}

/// The members that sources use for a refusal.
private struct Refusal: Decodable {
    var texts: [String?]
    /// The document says itself that it is an error.
    var isError: Bool

    enum CodingKeys: String, CodingKey { case reason, error, message, detail, msg, data, status }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? { try? members.decode(String.self, forKey: key) }
        texts = [.reason, .error, .message, .detail, .msg, .data].map(text)
        isError =
            ["error", "fail", "failed", "nope", "nug"].contains(text(.status)) || text(.error) != nil
            || (try? members.decode(Bool.self, forKey: .error)) == true
    }

    /// On one line.
    var explanation: String? {
        texts.lazy.compactMap(\.self).first { !$0.isEmpty }.map { onOneLine(String($0.unicodeScalars.prefix(1000))) }
    }

    /// Longer documents are none.
    init?(_ body: [UInt8]) {
        guard body.count <= 64 << 10, let refusal = try? JSONDecoder().decode(Self.self, from: Data(body)) else {
            return nil
        }
        self = refusal
    }
}

/// Text for people in the body of a refusal: the first of the members that sources use for that.
public func explanation(in body: [UInt8]) -> String? { Refusal(body)?.explanation }

/// An array; of its elements at most 1000 are looked at, and one that is not as documented does not take the others
/// with it.
struct List<Element: Decodable>: Decodable {
    var all: [Lenient<Element>] = []

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd, all.count < 1000 { all.append(try list.decode(Lenient<Element>.self)) }
    }

    var elements: [Element] { all.compactMap(\.value) }
}

/// The name of a member that is only known while the program runs.
struct MemberName: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
}

/// A part of a document that does not take its neighbours with it when it is not as documented.
struct Lenient<Value: Decodable>: Decodable {
    var result: Result<Value, AirUnavailable>

    init(from decoder: any Decoder) throws {
        do {
            result = .success(try Value(from: decoder))
        } catch let error as DecodingError {
            result = .failure(AirUnavailable(words(for: error)))
        }
    }

    var value: Value? { try? result.get() }
}

/// A number, or a string that holds one, as several sources write them. Anything else, such as `"NA"` and `"-"`, is
/// none.
struct LooseNumber: Decodable {
    var value: Double?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Double.self) {
            value = number
        } else if let text = try? container.decode(String.self) {
            value = looseNumber(text)
        }
    }
}

/// A number of digits, point and sign, with blanks around it or not, as several sources write them in text.
func looseNumber(_ text: String) -> Double? {
    let bytes = trimmed(Array(text.utf8)[...])
    guard bytes.allSatisfy({ "0123456789.-".utf8.contains($0) }) else { return nil }
    return Double(String(decoding: bytes, as: UTF8.self))
}

private func words(for error: DecodingError) -> String {
    func place(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
        let path = (context.codingPath + [last].compactMap(\.self)).map { key in
            key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
        }.joined()
        return path.isEmpty ? "the document" : String(path.drop { $0 == "." }.prefix(100))
    }
    return switch error {
    case .typeMismatch(_, let context): "\(place(context)) has the wrong type"
    case .valueNotFound(_, let context): "\(place(context)) is null"
    case .keyNotFound(let key, let context): "\(place(context, key)) is missing"
    case .dataCorrupted(let context): context.codingPath.isEmpty ? "it is no JSON" : "\(place(context)) cannot be read"
    @unknown default: "it is not as documented"
    }
}
