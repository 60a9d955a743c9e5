// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The certificates that an issuer has issued: the file `index.txt`, in the format of `openssl ca`, so that
/// `openssl ocsp -index` reads it too.
///
/// ```
/// # issuer 3b0c…, 2 certificates
/// V⇥360101000000Z⇥⇥5A0F…⇥unknown⇥/O=Example/CN=Example Receipt Signing
/// R⇥360101000000Z⇥261130031500Z,superseded⇥41C2…⇥unknown⇥/O=Example/CN=Example Receipt Signing
/// ```
///
/// A line has the status, the end of validity, the date and the reason of a revocation, the serial number, a file name
/// that is not used, and the subject. The first line, a comment, tells an index of another issuer and one that was cut
/// short: a list made from it would name revoked certificates no more.
struct CertificateIndex {
  struct Entry {
    /// The contents octets of the serial number's INTEGER.
    let serialNumber: [UInt8]
    let notAfter: Int64
    let subject: String
    var revocation: (date: Int64, reason: CRLReason?)?
  }

  private(set) var entries: [Entry] = []
  private let issuer: String

  /// Creates the empty index of a new issuer.
  init(of issuer: Certificate) { self.issuer = issuer.sha256FingerprintHex }

  /// Decodes the index of an issuer.
  ///
  /// - Throws: ``SigningError`` with `malformed-authority` and the line as its place.
  init(_ contents: [UInt8], of issuer: Certificate) throws(SigningError) {
    self.init(of: issuer)
    guard let text = String(validating: contents, as: UTF8.self), text.hasSuffix("\n") else {
      throw Self.malformed(1, "The index is not complete lines of UTF-8.")
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    var serialNumbers: Set<[UInt8]> = []
    for (number, line) in lines.enumerated().dropFirst() {
      guard let entry = Entry(line: line) else {
        throw Self.malformed(number + 1, "This is not a line of a certificate index.")
      }
      guard serialNumbers.insert(entry.serialNumber).inserted else {
        throw Self.malformed(number + 1, "The serial number occurs a second time.")
      }
      entries.append(entry)
    }
    guard lines.first == header[...] else {
      throw Self.malformed(
        1, "The index is of another issuer, or not complete. Its first line should be \"\(header)\".")
    }
  }

  /// Returns the index as a file.
  func encoded() -> [UInt8] {
    let lines = [header] + entries.map(\.line)
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  subscript(serialNumber: [UInt8]) -> Entry? {
    get { entries.first { $0.serialNumber == serialNumber } }
    set {
      guard let newValue else { return }
      if let index = entries.firstIndex(where: { $0.serialNumber == serialNumber }) {
        entries[index] = newValue
      } else {
        entries.append(newValue)
      }
    }
  }

  private var header: String { "# issuer \(issuer), \(entries.count) certificates" }

  private static func malformed(_ line: Int, _ message: String) -> SigningError {
    SigningError(.malformedAuthority, at: "line \(line)", message + " Restore it from a copy.")
  }
}

extension CertificateIndex.Entry {
  init(_ certificate: Certificate) {
    self.init(
      serialNumber: certificate.serialNumber, notAfter: certificate.notAfter,
      subject: certificate.subjectOneLine)
  }

  fileprivate init?(line: Substring) {
    let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
    guard fields.count == 6, let notAfter = CertificateIndex.seconds(fields[1]),
      var serialNumber = Hexadecimal.decode(String(fields[3])), !serialNumber.isEmpty
    else { return nil }
    // The file has no zero octet before a number whose first bit is set, and an INTEGER has one.
    if serialNumber[0] & 0x80 != 0 { serialNumber.insert(0, at: 0) }
    self.init(serialNumber: serialNumber, notAfter: notAfter, subject: String(fields[5]))
    switch fields[0] {
    case "V", "E": guard fields[2].isEmpty else { return nil }
    case "R":
      let parts = fields[2].split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
      guard let date = parts.first.flatMap(CertificateIndex.seconds) else { return nil }
      var reason: CRLReason?
      if parts.count > 1 {
        reason = CRLReason(name: String(parts[1]))
        guard reason != nil else { return nil }
      }
      revocation = (date, reason)
    default: return nil
    }
  }

  fileprivate var line: String {
    let revoked = revocation.map { revocation in
      CertificateIndex.text(revocation.date) + (revocation.reason.map { ",\($0)" } ?? "")
    }
    let octets = serialNumber.count > 1 && serialNumber[0] == 0 ? serialNumber[1...] : serialNumber[...]
    return [
      revoked == nil ? "V" : "R", CertificateIndex.text(notAfter), revoked ?? "",
      Hexadecimal.encode(octets).uppercased(), "unknown", subject,
    ].joined(separator: "\t")
  }
}

extension CertificateIndex {
  /// The time as a certificate has it: `YYMMDDHHMMSSZ` until the end of 2049, `YYYYMMDDHHMMSSZ` after that.
  fileprivate static func text(_ seconds: Int64) -> String {
    String(decoding: ASN1Writer.timeText(of: seconds), as: UTF8.self)
  }

  fileprivate static func seconds(_ text: Substring) -> Int64? {
    var digits = Array(text.utf8)
    guard digits.popLast() == UInt8(ascii: "Z"), digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    if digits.count == 12 { digits = Array((digits[0] < 0x35 ? "20" : "19").utf8) + digits }
    guard digits.count == 14 else { return nil }
    func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + Int($1 - 0x30) } }
    return CivilDateTime(
      year: number(0..<4), month: number(4..<6), day: number(6..<8), hour: number(8..<10),
      minute: number(10..<12), second: number(12..<14))?.secondsSince1970
  }
}
