// SPDX-License-Identifier: Apache-2.0

extension Certificate {
  /// Reads a certificate file: one certificate in DER, or PEM with one or more `CERTIFICATE` blocks, in the
  /// order of the file. Other blocks and text are skipped.
  ///
  /// - Throws: ``CryptoError/Code/malformedPEM`` where the text is damaged or holds no certificate,
  ///   ``CryptoError/Code/malformedCertificate`` where one cannot be read.
  public static func certificates(in file: [UInt8]) throws(CryptoError) -> [Certificate] {
    // A certificate is a SEQUENCE of more than 127 bytes: its second byte, of the length, is not ASCII.
    if file.starts(with: [0x30]), file.dropFirst().first ?? 0 >= 0x80 { return [try Certificate(der: file)] }
    var certificates: [Certificate] = []
    for block in try PEMBlock.blocks(in: file) where block.label == "CERTIFICATE" {
      certificates.append(try Certificate(der: block.bytes))
    }
    guard !certificates.isEmpty else {
      throw CryptoError(
        .malformedPEM, "There is no certificate in this file; expected DER, or PEM with a CERTIFICATE block.")
    }
    return certificates
  }
}
