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
      let bytes = Self.lineEnd + body
      guard bytes.starts(with: delimiter) else { throw malformed }
      var start = delimiter.count
      while !bytes[start...].starts(with: "--".utf8) {
        guard bytes[start...].starts(with: Self.lineEnd), fields.count < 100,
          let headEnd = bytes.place(of: Self.lineEnd + Self.lineEnd, from: start),
          let end = bytes.place(of: delimiter, from: headEnd + 4),
          let name = Self.name(bytes[start..<headEnd])
        else { throw malformed }
        fields.append((name, Array(bytes[headEnd + 4..<end])))
        start = end + delimiter.count
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
  }
#endif
