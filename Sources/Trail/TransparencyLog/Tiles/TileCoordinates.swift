// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension TileCoordinates {
  /// The number of hashes in a full tile, and of entries in a full bundle.
  public static let fullWidth = 256
  package static let maximumLevel = 63

  /// Creates coordinates; `nil` if the level is outside 0...63 or the width outside 1...256.
  public init?(level: Int, number: UInt64, width: Int = fullWidth) {
    guard (0...Self.maximumLevel).contains(level), (1...Self.fullWidth).contains(width) else { return nil }
    self.init(level, number, width)
  }

  package var isFull: Bool { width == Self.fullWidth }

  /// The coordinates of the same tile at full width.
  public var full: TileCoordinates { TileCoordinates(level, number, Self.fullWidth) }

  /// Creates the coordinates of a tile in a tree of `size` entries; `nil` if that tree has no such tile.
  package init?(level: Int, number: UInt64, inTreeOfSize size: UInt64) {
    guard (0..<8).contains(level) else { return nil }
    let hashes = size >> (8 * UInt64(level))
    guard number <= hashes >> 8 else { return nil }
    let width = number < hashes >> 8 ? Self.fullWidth : Int(hashes & 0xFF)
    guard width > 0 else { return nil }
    self.init(level, number, width)
  }

  /// The tiles of a level of a tree of `size` entries, in order.
  package static func all(
    level: Int, inTreeOfSize size: UInt64
  ) -> UnfoldSequence<TileCoordinates, UInt64> {
    sequence(state: 0) { number in
      defer { number += 1 }
      return TileCoordinates(level: level, number: number, inTreeOfSize: size)
    }
  }

  /// The partial tiles of a tree of `size` entries, from level 0 up.
  public static func partialTiles(ofTreeOfSize size: UInt64) -> [TileCoordinates] {
    (0..<8).compactMap { level in
      TileCoordinates(level: level, number: size >> (8 * UInt64(level) + 8), inTreeOfSize: size)
    }
  }
}

extension TileCoordinates: CustomStringConvertible {
  /// The path relative to the log's prefix, such as `tile/0/x001/x234/067.p/12`.
  public var path: String { "tile/\(level)/\(numberPath)" }

  /// The path of the bundle with the entries of a level 0 tile, such as `tile/entries/x001/x234/067.p/12`.
  public var entryBundlePath: String { "tile/entries/\(numberPath)" }

  /// The path.
  public var description: String { path }

  private var numberPath: String {
    var text = Self.threeDigits(number % 1000)
    var rest = number / 1000
    while rest > 0 {
      text = "x\(Self.threeDigits(rest % 1000))/\(text)"
      rest /= 1000
    }
    return isFull ? text : "\(text).p/\(width)"
  }

  private static func threeDigits(_ value: UInt64) -> String {
    value < 10 ? "00\(value)" : value < 100 ? "0\(value)" : "\(value)"
  }
}

extension TileCoordinates {
  /// Parses a path in the format of ``path``; `nil` for any other text.
  package init?(path: String) {
    guard path.utf8.count <= Self.maximumPathLength, path.hasPrefix("tile/") else { return nil }
    let rest = path.dropFirst("tile/".count)
    guard let slash = rest.firstIndex(of: "/"), let level = Int(rest[..<slash]) else { return nil }
    self.init(level: level, numberPath: rest[rest.index(after: slash)...])
    guard UTF8Text.isIdentical(self.path, path) else { return nil }
  }

  /// Parses a path in the format of ``entryBundlePath``; `nil` for any other text.
  package init?(entryBundlePath path: String) {
    guard path.utf8.count <= Self.maximumPathLength, path.hasPrefix("tile/entries/") else { return nil }
    self.init(level: 0, numberPath: path.dropFirst("tile/entries/".count))
    guard UTF8Text.isIdentical(entryBundlePath, path) else { return nil }
  }

  private static let maximumPathLength = 64

  /// Parses leniently (signs, extra digits, a missing `x`); callers compare the result's path with the input.
  private init?(level: Int, numberPath: Substring) {
    var elements = numberPath.split(separator: "/", omittingEmptySubsequences: false)
    var width = Self.fullWidth
    if elements.count >= 2, elements[elements.count - 2].hasSuffix(".p") {
      guard let parsed = Int(elements.removeLast()), parsed < Self.fullWidth else { return nil }
      width = parsed
      elements[elements.count - 1].removeLast(2)
    }
    let digits = elements.map { $0.hasPrefix("x") ? $0.dropFirst() : $0 }.joined()
    guard let number = UInt64(digits) else { return nil }
    self.init(level: level, number: number, width: width)
  }
}
