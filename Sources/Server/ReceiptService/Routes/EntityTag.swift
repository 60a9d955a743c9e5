// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore
  internal import ReceiptBytes
  internal import ReceiptCrypto
  internal import ReceiptHTTP

  /// The entity tag of a representation (RFC 9110 section 8.8.3).
  struct EntityTag {
    /// The tag as fields spell it.
    let text: String

    /// Creates the tag of a representation that is equal if and only if some bytes are.
    init(of bytes: [UInt8], isWeak: Bool = false) {
      let digest = Base64URL.encodeToString(Array(Digest.hash(bytes, using: .sha256).prefix(16)))
      text = (isWeak ? "W/" : "") + "\"\(digest)\""
    }

    /// Returns `true` if the field `If-None-Match` of a request has the tag, compared weakly (section 13.1.2).
    func matches(_ fields: HTTPFields) -> Bool {
      let values = fields[values: .ifNoneMatch]
      if values.count == 1, values[0].trimmingASCIISpace == "*" { return true }
      let listed = values.flatMap { $0.split(separator: ",") }
      return listed.contains { listed in
        Self.opaque(String(listed).trimmingASCIISpace) == Self.opaque(text)
      }
    }

    private static func opaque(_ tag: String) -> Substring { tag.dropFirst(tag.hasPrefix("W/") ? 2 : 0) }
  }

  extension Response {
    /// A representation that its client may keep, by default to ask about before each use; 304 without a body if the
    /// client has it.
    static func cacheable(
      _ body: [UInt8], as type: String, tag: EntityTag, for request: Request,
      caching: String = "private, no-cache"
    ) -> Response {
      var fields: HTTPFields = [
        .eTag: tag.text, .cacheControl: caching, .vary: "Accept, Authorization",
      ]
      guard !tag.matches(request.headers) else { return Response(status: .notModified, headers: fields) }
      fields[.contentType] = type
      return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
  }
#endif
