// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCrypto
internal import TransparencyLog

/// How far a trail has come: the row that every change of it replaces, signed by the trail's key, so that nobody else
/// makes one.
///
/// It is stored as a signed note (C2SP signed-note) over the text
///
///     receiptkit.dev/audit-trail-head@v1
///     origin example.com/verdicts
///     size 43
///     indexed 0
///     time 1759302519101
///     root CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
///     index 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
///     writer 7f3a90d2c41b65e8 42
///     configuration vTqk+i5Ui1zWdWBdYfVFXhbc/tXMMSoOLxWLKZMcqxc=
///     policies 4pGuWhsS1tOqbaDLWTNIVo8nlZEJ2a2JPzZ8gMT8gjQ=
///
/// with the number of entries, how many of them have their index records in runs, the time of the newest in milliseconds
/// since 1970, the roots of the tree and of the index, who wrote the entries from a number on, and SHA-256 of the
/// configuration's text, so that nobody puts another one in its place that the same key has signed. The last line, with
/// SHA-256 of the list of the policies whose texts are kept (``StoredPolicies``), is there once one is.
struct TrailHead: Equatable {
  static let empty = TrailHead(
    size: 0, indexedSize: 0, lastTime: 0, root: .empty, indexRoot: .none,
    writer: WriterRun(writer: 0, from: 0))

  /// Entries.
  var size: UInt64
  /// Entries whose index records are in runs.
  var indexedSize: UInt64
  /// Of the newest entry, milliseconds since 1970.
  var lastTime: Int64
  /// Of the tree of all entries.
  var root: TreeHash
  /// Of the index.
  var indexRoot: IndexRoot
  /// The last writer.
  var writer: WriterRun
  /// SHA-256 of the list of the policies whose texts are kept; `nil` if none is.
  var policies: SHA256Digest?

  /// The entries that one opened trail wrote with nobody else's in between.
  struct WriterRun: Equatable {
    /// A random number.
    let writer: UInt64
    /// The first of the entries.
    let from: UInt64
  }

  /// Indicates whether both have the same entries, whatever of them is indexed.
  func isSameTree(as other: TrailHead) -> Bool { size == other.size && root == other.root }
}

extension TrailHead {
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
    // One spelling only.
    guard self.text(configuration) == text else { return nil }
  }
}

/// A head whose signature was found right, as it is stored.
struct SignedHead: Equatable {
  let head: TrailHead
  let bytes: [UInt8]
}

/// The limits of a trail.
enum TrailLimits {
  /// Entries of a trail: indexes are stored in 40 bits.
  static let entries: UInt64 = 1 << 40
  /// The bytes of an entry. Entry bundles would allow 65,535.
  static let entryByteCount = 16384
  /// The bytes of an erasable part.
  static let erasableByteCount = 16 << 20
  /// An erasable part that is larger is stored in a row of its own.
  static let inlineErasableByteCount = 4096
  /// Entries between two flushes of the index: what has to be read again when a trail is opened.
  static let flushInterval: UInt64 = 65536
}
