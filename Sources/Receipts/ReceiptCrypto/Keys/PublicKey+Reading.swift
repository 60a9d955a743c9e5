// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension PublicKey {
  /// Reads a public key file that contains a SubjectPublicKeyInfo.
  ///
  /// It may be in DER, in PEM (`PUBLIC KEY`), or in base64 without the lines of PEM, as the Play Console and AppGallery
  /// Connect show it. White space in base64 and a leading byte order mark are ignored.
  ///
  /// - Throws: ``CryptoError/Code/malformedPEM`` or ``CryptoError/Code/malformedKey``.
  public init(inFile contents: [UInt8]) throws(CryptoError) {
    let contents = ByteOrderMark.dropped(from: contents)
    // DER begins with 0x30, which is a digit in text. The base64 of a SubjectPublicKeyInfo begins with "M".
    if contents.first == 0x30 {
      try self.init(subjectPublicKeyInfo: contents)
      return
    }
    if ByteSearch.contains("-----BEGIN", in: contents.span) {
      try self.init(pem: String(decoding: contents, as: UTF8.self))
      return
    }
    guard let der = try? Base64.decode(contents, allowingWhitespace: true), !der.isEmpty else {
      throw CryptoError(
        .malformedKey,
        "This is no public key: it is neither DER, nor PEM, nor the base64 that a store's console shows.")
    }
    try self.init(subjectPublicKeyInfo: der)
  }
}
