// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  /// A value of a statement, sent in binary.
  enum StatementParameter {
    /// The server's numbers of the types (pg_type.dat).
    enum Kind: UInt32 {
      case bytea = 17
      case bigint = 20
      case integer = 23
      case text = 25
    }

    case bigint(Int64)
    case integer(Int32)
    case bytes([UInt8])

    /// Lends what libpq wants of the values: pointers to them, their lengths, and that all are binary.
    static func withPointers<Result>(
      to parameters: [StatementParameter],
      _ body: (
        UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
      ) -> Result
    ) -> Result {
      var values: [UnsafePointer<CChar>?] = unsafe []
      var lengths: [Int32] = []
      func lend(_ remaining: ArraySlice<StatementParameter>) -> Result {
        guard let next = remaining.first else {
          let formats = [Int32](repeating: 1, count: lengths.count)
          return unsafe values.withUnsafeBufferPointer { values in
            unsafe lengths.withUnsafeBufferPointer { lengths in
              unsafe formats.withUnsafeBufferPointer { formats in
                unsafe body(values.baseAddress, lengths.baseAddress, formats.baseAddress)
              }
            }
          }
        }
        // No address would mean NULL, so an empty value lends one byte and says that none of it counts.
        let (bytes, count) = next.encoded
        return unsafe bytes.withUnsafeBytes { buffer in
          unsafe values.append(buffer.bindMemory(to: CChar.self).baseAddress)
          lengths.append(Int32(count))
          return lend(remaining.dropFirst())
        }
      }
      return lend(parameters[...])
    }

    private var encoded: (bytes: [UInt8], count: Int) {
      switch self {
      case .bigint(let number): ((0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }, 8)
      case .integer(let number): ((0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }, 4)
      case .bytes(let bytes): (bytes.isEmpty ? [0] : bytes, bytes.count)
      }
    }
  }

  /// Lends an array of C strings, ended by none.
  enum CStrings {
    static func withPointers<Result>(
      _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
      var pointers: [UnsafePointer<CChar>?] = unsafe []
      func lend(_ remaining: ArraySlice<String>) -> Result {
        guard let next = remaining.first else {
          unsafe pointers.append(nil)
          return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
        }
        return unsafe next.withCString { pointer in
          unsafe pointers.append(pointer)
          return lend(remaining.dropFirst())
        }
      }
      return lend(strings[...])
    }
  }
#endif
