// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension CMSSignedAttributes {
  /// Reads the `[0] IMPLICIT SET OF Attribute` at the reader's position. It must be DER and sorted, because any other
  /// encoding differs from the signed bytes. No attribute may occur twice.
  init(
    reading reader: inout ReceiptASN1Reader, of receipt: [UInt8], _ bytes: Span<UInt8>
  ) throws(MalformedReceipt) {
    let start = reader.position
    var strict = reader.underDER
    var set = try strict.enter(.contextSpecificConstructed(0), bytes)
    var attributes: [Attribute] = []
    var seen: Set<ObjectIdentifier> = []
    var contentType: String?
    var messageDigest: [UInt8]?
    var previous: Range<Int>?
    while try !set.isAtEnd(bytes) {
      let attributeStart = set.position
      var attribute = try set.enter(.sequence, bytes)
      let type = try attribute.readObjectIdentifier(bytes)
      guard seen.insert(type).inserted else {
        throw set.failure(.duplicate, at: attributeStart, "The signed attribute \(type) occurs twice.")
      }
      var valueSet = try attribute.enter(.set, bytes)
      var values: [ArraySlice<UInt8>] = []
      let valuesStart = valueSet.position
      while try !valueSet.isAtEnd(bytes) { values.append(receipt[try valueSet.skip(bytes)]) }
      try attribute.leave(valueSet, bytes)
      try set.leave(attribute, bytes)

      let encoding = attributeStart..<set.position
      if let previous, !receipt[previous].lexicographicallyPrecedes(receipt[encoding]) {
        throw set.failure(
          .invalidValue, at: attributeStart, "The signed attributes are not sorted as in DER.")
      }
      previous = encoding

      let dotted = type.description
      if dotted == ObjectIdentifiers.contentType || dotted == ObjectIdentifiers.messageDigest {
        guard values.count == 1, let value = values.first else {
          throw set.failure(.invalidValue, at: valuesStart, "The signed attribute \(type) has not one value.")
        }
        var valueReader = ReceiptASN1Reader(value.indices, part: set.part)
        if dotted == ObjectIdentifiers.contentType {
          contentType = try valueReader.readObjectIdentifier(bytes).description
        } else {
          messageDigest = Array(receipt[try valueReader.read(.octetString, bytes)])
        }
      }
      attributes.append(Attribute(type: dotted, values: values))
    }
    try strict.leave(set, bytes)
    reader.advance(to: strict)
    guard !attributes.isEmpty else {
      throw strict.failure(.invalidValue, at: start, "The signed attributes are present but empty.")
    }

    var encoded = Array(receipt[start..<strict.position])
    encoded[0] = 0x31
    self.encoded = encoded
    self.attributes = attributes
    self.contentType = contentType
    self.messageDigest = messageDigest
  }
}
