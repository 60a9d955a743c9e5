// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// The head of a log (C2SP tlog-checkpoint): its number of entries and the root of their tree.
///
///     example.com/behind-the-sofa
///     20852163
///     CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
public struct Checkpoint: Sendable {
  /// The identity of the log.
  public let origin: String
  /// The number of entries.
  public let size: UInt64
  /// The root of the tree of those entries.
  public let root: TreeHash
  /// Additional lines, without their newlines. They are signed too, but have no meaning for monitors and witnesses.
  package let extensionLines: [String]

  /// Creates a checkpoint.
  ///
  /// - Throws: ``LogFormatError``: `malformedName` if the origin or an extension line is empty or has a control
  ///   character, `wrongEmptyRoot` if `size` is 0 and `root` is not the root of the empty tree.
  public init(
    origin: String, size: UInt64, root: TreeHash, extensionLines: [String] = []
  ) throws(LogFormatError) {
    for line in [origin] + extensionLines where line.isEmpty || !line.utf8.allSatisfy({ $0 >= 0x20 }) {
      throw LogFormatError(
        .malformedName, .none, "a line of a checkpoint is not empty and has no control characters")
    }
    try Self.require(root, ofTreeWith: size, .none)
    self.origin = origin
    self.size = size
    self.root = root
    self.extensionLines = extensionLines
  }

  /// Parses the text of a checkpoint that has passed the checks for notes.
  init(parsing text: [UInt8]) throws(LogFormatError) {
    var reader = LineReader(text[...])
    origin = String(decoding: try Self.line("the origin", &reader), as: UTF8.self)
    guard let size = ASCII.decimal(try Self.line("the tree size", &reader)) else {
      throw LogFormatError(.malformedNumber, reader.place, "expected the tree size in decimal")
    }
    self.size = size
    guard let root = TreeHash(base64: try Self.line("the root", &reader)) else {
      throw LogFormatError(.malformedHash, reader.place, "expected the root in base64")
    }
    self.root = root
    try Self.require(root, ofTreeWith: size, reader.place)
    var lines: [String] = []
    while !reader.remainder.isEmpty {
      lines.append(String(decoding: try Self.line("an extension line", &reader), as: UTF8.self))
    }
    extensionLines = lines
  }

  private static func require(
    _ root: TreeHash, ofTreeWith size: UInt64, _ place: LogFormatError.Place
  ) throws(LogFormatError) {
    guard size > 0 || root == .empty else {
      throw LogFormatError(.wrongEmptyRoot, place, "the root of an empty tree is \(TreeHash.empty)")
    }
  }

  private static func line(
    _ what: String, _ reader: inout LineReader
  ) throws(LogFormatError) -> ArraySlice<UInt8> {
    let line = try reader.line(what)
    guard !line.isEmpty else {
      throw LogFormatError(.unexpectedLine, reader.place, "expected \(what), found an empty line")
    }
    return line
  }

  /// The signed text: all lines, each with its newline.
  package var text: [UInt8] { ([origin, String(size), root.base64] + extensionLines).encodedLines }
}

extension Checkpoint: Hashable, CustomStringConvertible {
  /// Returns `true` if all lines have the same bytes.
  public static func == (lhs: Checkpoint, rhs: Checkpoint) -> Bool {
    lhs.size == rhs.size && lhs.root == rhs.root && lhs.text == rhs.text
  }

  /// Hashes the size and the root.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(size)
    hasher.combine(root)
  }

  /// The origin, size and root, on one line.
  public var description: String { "\(origin) \(size) \(root)" }
}
