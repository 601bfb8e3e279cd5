internal import FoundationEssentials

/// Decodes a source's document; the error says where it is not as documented.
func decoded<Document: Decodable>(_ type: Document.Type, from body: [UInt8]) throws(SourceError) -> Document {
    do {
        return try JSONDecoder().decode(type, from: Data(body))
    } catch let error as DecodingError {
        throw .unreadable(words(for: error))
    } catch {
        throw .unreadable("it is no JSON")
    }
}

/// What a source says for people in the body of a refusal: the first of the members that sources use for that.
public func explanation(in body: [UInt8]) -> String? {
    struct Refusal: Decodable {
        var texts: [Lenient<String>?]

        enum CodingKeys: String, CodingKey, CaseIterable { case reason, error, message, detail, data }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            texts = try CodingKeys.allCases.map { try members.decodeIfPresent(Lenient<String>.self, forKey: $0) }
        }
    }
    guard let refusal = try? JSONDecoder().decode(Refusal.self, from: Data(body)) else { return nil }
    guard let text = refusal.texts.lazy.compactMap({ $0?.value }).first(where: { !$0.isEmpty }) else { return nil }
    return String(String.UnicodeScalarView(text.unicodeScalars.prefix(200).map { $0.value < 0x20 ? " " : $0 }))
}

/// A part of a document that does not take its neighbours with it when it is not as documented.
struct Lenient<Value: Decodable>: Decodable {
    var result: Result<Value, NoAir>

    init(from decoder: any Decoder) throws {
        do {
            result = .success(try Value(from: decoder))
        } catch let error as DecodingError {
            result = .failure(NoAir(words(for: error)))
        }
    }

    var value: Value? { try? result.get() }
}

/// A number, or a string that holds one, as several sources write them. Anything else, such as `"NA"` and `"-"`, is none.
struct LooseNumber: Decodable {
    var value: Double?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Double.self) {
            value = number
        } else if let text = try? container.decode(String.self),
            text.utf8.allSatisfy({ "0123456789.-".utf8.contains($0) })
        {
            value = Double(text)
        }
    }
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
