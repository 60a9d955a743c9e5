// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Foundation
  internal import HTTPTypes
  internal import ReceiptBytes

  /// The fields of a submitted form in `multipart/form-data` (RFC 7578), the only encoding that carries files.
  struct ConsoleForm: Sendable {
    private var fields: [(name: String, value: [UInt8])] = []

    init() {}

    /// - Throws: ``Problem`` for a body that browsers do not send.
    init(_ body: [UInt8], contentType: String?) throws(Problem) {
      let malformed = Problem(.badRequest, "invalid-form", "The form is not multipart/form-data.")
      let prefix = "multipart/form-data; boundary="
      guard let contentType, contentType.lowercased().hasPrefix(prefix) else {
        throw Problem(
          .unsupportedMediaType, "unsupported-media-type", "Forms are sent as multipart/form-data.")
      }
      let boundary = contentType.dropFirst(prefix.count).filter { $0 != "\"" }
      guard 1...70 ~= boundary.utf8.count else { throw malformed }
      let delimiter = Array("\r\n--\(boundary)".utf8)
      // The first delimiter is not preceded by a line end.
      var rest = ([0x0D, 0x0A] + body)[...]
      guard rest.starts(with: delimiter) else { throw malformed }
      rest = rest.dropFirst(delimiter.count)
      while !rest.starts(with: Array("--".utf8)) {
        guard rest.starts(with: Self.lineEnd), fields.count < 100,
          let head = Self.range(of: Self.lineEnd + Self.lineEnd, in: rest),
          let end = Self.range(of: delimiter, in: rest[head.upperBound...]),
          let name = Self.name(rest[..<head.lowerBound])
        else { throw malformed }
        fields.append((name, Array(rest[head.upperBound..<end.lowerBound])))
        rest = rest[end.upperBound...]
      }
    }

    /// The value of the first non-empty field with a name, unchanged.
    func bytes(_ name: String) -> [UInt8]? { fields.first { $0.name == name && !$0.value.isEmpty }?.value }

    /// The value of the first non-empty field with a name, as text.
    subscript(name: String) -> String? { bytes(name).map { String(decoding: $0, as: UTF8.self) } }

    func all(_ name: String) -> [String] {
      fields.filter { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
    }

    private static let lineEnd: [UInt8] = [0x0D, 0x0A]

    private static func name(_ head: ArraySlice<UInt8>) -> String? {
      let text = String(decoding: head, as: UTF8.self)
      guard let start = text.range(of: "; name=\""),
        let end = text[start.upperBound...].firstIndex(of: "\"")
      else { return nil }
      return String(text[start.upperBound..<end])
    }

    private static func range(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Range<Int>? {
      guard bytes.count >= pattern.count else { return nil }
      var start = bytes.startIndex
      while let found = bytes[start...].firstIndex(of: pattern[0]), found + pattern.count <= bytes.endIndex {
        if bytes[found..<found + pattern.count].elementsEqual(pattern) {
          return found..<found + pattern.count
        }
        start = found + 1
      }
      return nil
    }
  }
#endif
