// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto
internal import TransparencyLog

/// The constant properties of a trail.
///
/// They are chosen when it is created, and signed with its key, so that nobody else can change them.
///
/// It is stored as a signed note (C2SP signed-note) of the trail's key over the text
///
///     receiptkit.dev/audit-trail@v1
///     origin example.com/verdicts
///     once forever
///     index-key 3q2+796tvu/erb7v3q2+7w==
///
/// where `once` is `forever` or a number of seconds.
public struct TrailConfiguration: Sendable, Hashable {
  /// The period in which the same verdict on the same receipt under the same policy is entered only once.
  public enum OnceWindow: Sendable, Hashable {
    /// As long as the trail exists.
    case forever
    /// This number of seconds after the entry; at least 1, and at most `Int64.max / 1000`.
    case seconds(Int64)

    /// The maximum number of seconds in a window; in milliseconds it fits into 64 bits.
    package static let longest = Int64.max / 1000

    /// Returns `true` if an entry of the time `earlier` is in the window of a record of `time`, both in milliseconds
    /// since 1970.
    func covers(_ earlier: Int64, at time: Int64) -> Bool {
      guard case .seconds(let seconds) = self else { return true }
      let (start, isBeforeAll) = time.subtractingReportingOverflow(seconds * 1000)
      return isBeforeAll || earlier >= start
    }
  }

  /// The log's origin (C2SP tlog-checkpoint), which is also the name of its key.
  ///
  /// By convention it is a URL without scheme.
  public let origin: String
  /// The period in which a verdict is entered only once.
  public let once: OnceWindow
  /// The secret key, 16 bytes, without which nobody can choose receipts whose fingerprints collide.
  let indexKey: [UInt8]

  /// Creates a configuration.
  ///
  /// - Throws: ``AuditError/Code/invalidRecord`` if the window is shorter than a second or longer than
  ///   `Int64.max / 1000`.
  public init(origin: String, once: OnceWindow = .forever) throws(AuditError) {
    try self.init(origin: origin, once: once, indexKey: Random.bytes(16))
  }

  init(origin: String, once: OnceWindow, indexKey: [UInt8]) throws(AuditError) {
    if case .seconds(let seconds) = once, !(1...OnceWindow.longest ~= seconds) {
      throw AuditError(
        .invalidRecord, at: "once",
        "The window of exactly-once has 1 to \(OnceWindow.longest) seconds, not \(seconds); for longer, take forever."
      )
    }
    self.origin = origin
    self.once = once
    self.indexKey = indexKey
  }

  private static let header = "receiptkit.dev/audit-trail@v1"

  var text: String {
    let window =
      switch once {
      case .forever: "forever"
      case .seconds(let seconds): "\(seconds)"
      }
    return """
      \(Self.header)
      origin \(origin)
      once \(window)
      index-key \(Base64.encodeToString(indexKey))

      """
  }

  /// Reads the text of a note whose signature was checked.
  init(text: String) throws(AuditError) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    func value(_ line: Int, _ key: String) throws(AuditError) -> String {
      guard lines.count == 5, lines[0] == Self.header, lines[line].hasPrefix(key + " ") else {
        throw AuditError(
          .notATrail, at: "configuration", "The configuration is not of the form \(Self.header).")
      }
      return String(lines[line].dropFirst(key.utf8.count + 1))
    }
    let window = try value(2, "once")
    let key = try? Base64.decode(Array(try value(3, "index-key").utf8)[...])
    guard let key, key.count == 16,
      let once = window == "forever" ? .forever : Int64(window).map(OnceWindow.seconds)
    else {
      throw AuditError(.notATrail, at: "configuration", "The configuration has a value that cannot be.")
    }
    try self.init(origin: try value(1, "origin"), once: once, indexKey: key)
    guard self.text == text else {
      throw AuditError(
        .notATrail, at: "configuration", "The configuration is not spelled as this version writes it.")
    }
  }
}
