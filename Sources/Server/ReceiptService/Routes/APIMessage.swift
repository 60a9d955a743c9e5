// SPDX-License-Identifier: Apache-2.0

#if Server
  package import Hummingbird
  package import ReceiptCodec

  /// A value that writes itself as a JSON object.
  package protocol JSONWritable: Sendable {
    func write(to json: inout JSONWriter)
  }

  /// An object of the API, which `scripts/wire-types` generates from the table of its members.
  package protocol APIMessage: JSONWritable, ResponseGenerator {
    /// The value of the member `type`; `nil` for a part of other objects.
    static var type: String? { get }
    func writeMembers(to json: inout JSONWriter)
  }

  extension APIMessage {
    package static var type: String? { nil }

    package func write(to json: inout JSONWriter) { write(to: &json, type: Self.type) }

    private func write(to json: inout JSONWriter, type: String?) {
      if let type { json.beginObject(type: type) } else { json.beginObject() }
      writeMembers(to: &json)
      json.endObject()
    }

    /// The object by itself.
    package func json(type: String? = Self.type) -> JSONWriter {
      var json = JSONWriter()
      write(to: &json, type: type)
      return json
    }

    /// Answers the object with status 200.
    package func response(from request: Request, context: some RequestContext) -> Response { .json(json()) }
  }

  extension JSONWriter {
    /// The text that was written.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func member(_ name: String, _ value: some JSONWritable) {
      self.name(name)
      value.write(to: &self)
    }

    mutating func member(_ name: String, _ values: [some JSONWritable]) {
      self.name(name)
      beginArray()
      for value in values { value.write(to: &self) }
      endArray()
    }

    mutating func member(_ name: String, _ words: [some RawRepresentable<String>]) {
      self.name(name)
      beginArray()
      for word in words { string(word.rawValue) }
      endArray()
    }
  }
#endif
