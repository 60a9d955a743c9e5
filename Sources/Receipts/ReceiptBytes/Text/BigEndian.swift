// SPDX-License-Identifier: Apache-2.0

extension FixedWidthInteger {
  /// The integer's bytes, most significant first.
  package var bigEndianBytes: [UInt8] {
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

  /// Returns the integer whose most significant byte is at `offset`.
  ///
  /// Traps if it reaches beyond the end.
  @inlinable
  public func bigEndian<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Value {
    span.bigEndian(at: offset)
  }
}

extension Span<UInt8> {
  /// Returns the integer whose most significant byte is at `offset`.
  ///
  /// Traps if it reaches beyond the end.
  @inlinable @inline(__always)
  public func bigEndian<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Value {
    let raw = unsafe bytes
    return Value(bigEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self))
  }
}
