// SPDX-License-Identifier: Apache-2.0

extension FixedWidthInteger {
  /// The bytes, most significant first.
  public var bigEndianBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: self)
    return bytes
  }
}

extension [UInt8] {
  /// Appends an integer, most significant byte first.
  @inlinable
  public mutating func append(bigEndian value: some FixedWidthInteger) {
    unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
  }

  /// The integer whose most significant byte is at `offset`. The bytes must be there.
  @inlinable
  public func bigEndian<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Value {
    span.bigEndian(at: offset)
  }
}

extension Span<UInt8> {
  /// The integer whose most significant byte is at `offset`. Reading beyond the end traps, as with any index.
  @inlinable @inline(__always)
  public func bigEndian<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Value {
    let raw = unsafe bytes
    return Value(bigEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self))
  }
}
