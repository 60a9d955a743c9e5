// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import ReceiptBytes

  /// A parameter value of a statement, which is sent in binary format.
  package enum StatementParameter {
    case bigint(Int64)
    case integer(Int32)
    case bytes([UInt8])
    case bigints([Int64])
    /// A text, which must not contain U+0000, because PostgreSQL text cannot.
    case text(String)
    case null

    package var kind: Kind {
      switch self {
      case .bigint: .bigint
      case .integer: .integer
      case .bytes: .bytea
      case .bigints: .bigints
      case .text: .text
      case .null: .unspecified
      }
    }

    /// Runs `body` with the arrays that libpq expects: pointers to the values, their lengths, and their formats (all
    /// binary).
    static func withPointers<Result>(
      to parameters: [StatementParameter],
      _ body: (
        UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
      ) -> Result
    ) -> Result {
      var values: [UnsafePointer<CChar>?] = unsafe []
      var lengths: [Int32] = []
      func add(_ remaining: ArraySlice<StatementParameter>) -> Result {
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
        if case .null = next {
          unsafe values.append(nil)
          lengths.append(0)
          return add(remaining.dropFirst())
        }
        // A null pointer means NULL, so an empty value has the address of one byte that does not count.
        let (bytes, count) = next.encoded
        return unsafe bytes.withUnsafeBytes { buffer in
          unsafe values.append(buffer.bindMemory(to: CChar.self).baseAddress)
          lengths.append(Int32(count))
          return add(remaining.dropFirst())
        }
      }
      return add(parameters[...])
    }

    /// Runs `body` with an array of C strings, terminated by a null pointer.
    static func withCStrings<Result>(
      _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
      // The text of a parameter ends with a zero byte, and NULL is a null pointer.
      unsafe withPointers(to: strings.map { .text($0) } + [.null]) { pointers, _, _ in unsafe body(pointers) }
    }

    private var encoded: (bytes: [UInt8], count: Int) {
      var bytes: [UInt8] = []
      switch self {
      case .bigint(let number): bytes.append(bigEndian: number)
      case .integer(let number): bytes.append(bigEndian: number)
      case .bytes(let value): return (value.isEmpty ? [0] : value, value.count)
      case .text(let text): return (Array(text.utf8) + [0], text.utf8.count)
      case .null: break
      case .bigints(let numbers):
        // The binary format of an array (array_recv): dimensions, no-NULLs flag, element type, count, lower bound.
        bytes.reserveCapacity(20 + 12 * numbers.count)
        for field in [1, 0, Int32(Kind.bigint.rawValue), Int32(numbers.count), 1] {
          bytes.append(bigEndian: field)
        }
        for number in numbers {
          bytes.append(bigEndian: Int32(8))
          bytes.append(bigEndian: number)
        }
      }
      return (bytes, bytes.count)
    }
  }
#endif
