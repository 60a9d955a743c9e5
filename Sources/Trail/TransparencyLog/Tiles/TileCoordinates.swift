// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Which tile of a tree, as C2SP tlog-tiles addresses it.
///
/// A full tile holds 256 consecutive hashes of one level: of leaves at level 0, of full tiles of the level below
/// at the levels above. The last tile of a level may be partial. Tile 1234067 of level 0 is
/// `tile/0/x001/x234/067`; while it holds 12 hashes only it is `tile/0/x001/x234/067.p/12`.
public struct TileCoordinates: Sendable, Hashable {
  /// The number of hashes in a full tile, and of entries in a full bundle.
  public static let fullWidth = 256
  /// The greatest level that a path can name.
  public static let maximumLevel = 63

  /// 0 for the hashes of leaves; 256 tiles of a level go into one of the next.
  public let level: Int
  /// The position among the tiles of the level, from 0.
  public let number: UInt64
  /// The number of hashes it holds: 1 to 256.
  public let width: Int

  /// Names a tile; `nil` for a level outside 0...63 or a width outside 1...256.
  public init?(level: Int, number: UInt64, width: Int = fullWidth) {
    guard (0...Self.maximumLevel).contains(level), (1...Self.fullWidth).contains(width) else { return nil }
    self.init(level, number, width)
  }

  package init(_ level: Int, _ number: UInt64, _ width: Int) {
    self.level = level
    self.number = number
    self.width = width
  }

  /// Indicates whether it holds all 256 hashes.
  public var isFull: Bool { width == Self.fullWidth }

  /// The full tile, whose first hashes this one holds.
  public var full: TileCoordinates { TileCoordinates(level, number, Self.fullWidth) }

  /// The tile as it is in a tree of `size` entries; `nil` if that tree has no such tile.
  public init?(level: Int, number: UInt64, inTreeOfSize size: UInt64) {
    guard (0..<8).contains(level) else { return nil }
    let hashes = size >> (8 * UInt64(level))
    guard number <= hashes >> 8 else { return nil }
    let width = number < hashes >> 8 ? Self.fullWidth : Int(hashes & 0xFF)
    guard width > 0 else { return nil }
    self.init(level, number, width)
  }

  /// Every partial tile of a tree of `size` entries, from level 0 up.
  public static func partialTiles(ofTreeOfSize size: UInt64) -> [TileCoordinates] {
    (0..<8).compactMap { level in
      TileCoordinates(level: level, number: size >> (8 * UInt64(level) + 8), inTreeOfSize: size)
    }
  }
}

extension TileCoordinates: CustomStringConvertible {
  /// The path below the log's prefix, such as `tile/0/x001/x234/067.p/12`.
  public var path: String { "tile/\(level)/\(numberPath)" }

  /// The path of the bundle with the entries of a tile of level 0, such as `tile/entries/x001/x234/067.p/12`.
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
  /// Reads a path that ``path`` writes; `nil` for any other text.
  public init?(path: String) {
    guard path.utf8.count <= Self.maximumPathLength, path.hasPrefix("tile/") else { return nil }
    let rest = path.dropFirst("tile/".count)
    guard let slash = rest.firstIndex(of: "/"), let level = Int(rest[..<slash]) else { return nil }
    self.init(level: level, numberPath: rest[rest.index(after: slash)...])
    guard UTF8Text.isIdentical(self.path, path) else { return nil }
  }

  /// Reads a path that ``entryBundlePath`` writes; `nil` for any other text.
  public init?(entryBundlePath path: String) {
    guard path.utf8.count <= Self.maximumPathLength, path.hasPrefix("tile/entries/") else { return nil }
    self.init(level: 0, numberPath: path.dropFirst("tile/entries/".count))
    guard UTF8Text.isIdentical(entryBundlePath, path) else { return nil }
  }

  private static let maximumPathLength = 64

  /// Formatting the result again rejects what is read too leniently here: signs, extra digits, a missing `x`.
  private init?(level: Int, numberPath: Substring) {
    var elements = numberPath.split(separator: "/", omittingEmptySubsequences: false)
    var width = Self.fullWidth
    if elements.count >= 2, elements[elements.count - 2].hasSuffix(".p") {
      guard let parsed = Int(elements.removeLast()), parsed < Self.fullWidth else { return nil }
      width = parsed
      elements[elements.count - 1].removeLast(2)
    }
    var number: UInt64 = 0
    for element in elements {
      guard let digits = UInt64(element.hasPrefix("x") ? element.dropFirst() : element), digits < 1000 else {
        return nil
      }
      let (product, productOverflow) = number.multipliedReportingOverflow(by: 1000)
      let (sum, sumOverflow) = product.addingReportingOverflow(digits)
      guard !productOverflow, !sumOverflow else { return nil }
      number = sum
    }
    self.init(level: level, number: number, width: width)
  }
}
