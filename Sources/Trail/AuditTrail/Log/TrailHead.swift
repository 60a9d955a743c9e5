// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCrypto
internal import TransparencyLog

extension TrailHead {
  static let empty = TrailHead(
    size: 0, indexedSize: 0, lastTime: 0, root: .empty, indexRoot: .zero,
    writer: WriterRun(writer: 0, from: 0))

  /// Returns `true` if both have the same entries, no matter how many of them are indexed.
  func isSameTree(as other: TrailHead) -> Bool { size == other.size && root == other.root }

  private static let header = "receiptkit.dev/audit-trail-head@v1"

  func text(_ configuration: TrailConfiguration) -> String {
    let kept = policies.map { "policies \($0.base64)\n" } ?? ""
    return """
      \(Self.header)
      origin \(configuration.origin)
      size \(size)
      indexed \(indexedSize)
      time \(lastTime)
      root \(root.base64)
      index \(Base64.encodeToString(indexRoot.bytes))
      writer \(String(writer.writer, radix: 16)) \(writer.from)
      configuration \(SHA256Digest(of: Array(configuration.text.utf8)).base64)
      \(kept)
      """
  }

  init?(text: String, _ configuration: TrailConfiguration) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 10 || lines.count == 11 else { return nil }
    let values = lines.map { line in
      line.firstIndex(of: " ").map { String(line[line.index(after: $0)...]) } ?? ""
    }
    let run = values[7].split(separator: " ")
    guard let size = UInt64(values[2]), let indexedSize = UInt64(values[3]), let lastTime = Int64(values[4]),
      let root = TreeHash(base64: values[5]),
      let indexBytes = try? Base64.decode(Array(values[6].utf8)[...]),
      let indexRoot = IndexRoot(indexBytes), run.count == 2,
      let writer = UInt64(run[0], radix: 16), let from = UInt64(run[1]),
      indexedSize <= size, size <= TrailLimits.entries
    else { return nil }
    self.init(
      size: size, indexedSize: indexedSize, lastTime: lastTime, root: root, indexRoot: indexRoot,
      writer: WriterRun(writer: writer, from: from),
      policies: lines.count == 11 ? SHA256Digest(base64: values[9]) : nil)
    // Only one spelling is accepted.
    guard self.text(configuration) == text else { return nil }
  }
}

enum TrailLimits {
  /// The maximum number of entries: indexes are stored in 40 bits.
  static let entries: UInt64 = 1 << 40
  /// The maximum length of an entry, in bytes; entry bundles would allow 65,535.
  static let entryByteCount = 16384
  static let erasableByteCount = 16 << 20
  /// The maximum length, in bytes, of an erasable part in a bundle; a longer one is stored in a row of its own.
  static let inlineErasableByteCount = 4096
  /// The number of entries between two flushes of the index, which must be read again when a trail is opened.
  static let flushInterval: UInt64 = 65536
}
