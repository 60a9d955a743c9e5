// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// Writes the lines of an entry into memory of sufficient size; bytes that do not fit are detected, and not written.
@safe
struct EntryWriter {
  private let start: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private(set) var count = 0
  /// The first fault: a value that no entry can hold.
  private(set) var fault: MalformedEntry?

  init(_ start: UnsafeMutablePointer<UInt8>, capacity: Int) {
    unsafe self.start = start
    self.capacity = capacity
  }

  mutating func fail(_ code: MalformedEntry.Code, _ message: String) {
    if fault == nil { fault = MalformedEntry(code, message) }
  }

  @inline(__always)
  private mutating func hasRoom(_ length: Int) -> Bool {
    if length <= capacity - count { return true }
    fail(.tooLong, "The entry is longer than was reckoned.")
    return false
  }

  /// Writes a literal text of the format, such as a key with the space after it.
  @inline(__always)
  mutating func write(literal text: StaticString) {
    let length = text.utf8CodeUnitCount
    guard hasRoom(length) else { return }
    unsafe (start + count).update(from: text.utf8Start, count: length)
    count += length
  }

  @inline(__always)
  mutating func write(_ byte: UInt8) {
    guard hasRoom(1) else { return }
    unsafe start[count] = byte
    count += 1
  }

  @inline(__always)
  private mutating func write(group: UInt64) {
    unsafe UnsafeMutableRawPointer(start + count).storeBytes(of: group.bigEndian, as: UInt64.self)
    count += 8
  }

  @inline(__always)
  mutating func line(_ key: StaticString, _ digest: SHA256Digest?) {
    guard let digest else { return }
    write(literal: key)
    guard hasRoom(48) else { return }
    let groups = Base64.encode(digest: digest.words)
    write(group: groups.0)
    write(group: groups.1)
    write(group: groups.2)
    write(group: groups.3)
    write(group: groups.4)
    write(group: groups.5)
    // Only four symbols of the last group belong to the digest.
    count -= 4
    write(UInt8(ascii: "\n"))
  }

  @inline(__always)
  mutating func line(_ key: StaticString, _ text: String?) {
    guard let text else { return }
    write(literal: key)
    write(text)
    write(UInt8(ascii: "\n"))
  }

  /// Writes text, and percent-encodes the bytes that the format reserves.
  mutating func write(_ text: String) {
    let bytes = text.utf8Span.span
    let length = bytes.count
    guard length > 0 else { return fail(.emptyValue, "A value is empty; leave it out instead.") }
    guard EntryText.containsReserved(bytes) else {
      guard hasRoom(length) else { return }
      unsafe bytes.withUnsafeBufferPointer { source in
        guard let first = source.baseAddress else { return }
        unsafe (start + count).update(from: first, count: length)
      }
      count += length
      return
    }
    for byte in EntryText.encoded(text) { write(byte) }
  }

  @inline(__always)
  mutating func line(_ key: StaticString, _ number: UInt64?) {
    guard let number else { return }
    write(literal: key)
    write(number)
    write(UInt8(ascii: "\n"))
  }

  /// Writes a line with an instant, which may be before 1970.
  @inline(__always)
  mutating func line(_ key: StaticString, _ instant: Int64?) {
    guard let instant else { return }
    write(literal: key)
    if instant < 0 { write(UInt8(ascii: "-")) }
    write(instant.magnitude)
    write(UInt8(ascii: "\n"))
  }

  /// Writes the line of the time, which is not before 1970.
  mutating func requiredLine(_ key: StaticString, _ instant: Int64) {
    guard instant >= 0 else { return fail(.outOfRange, "An entry's time is not before 1970.") }
    line(key, instant)
  }

  @inline(__always)
  mutating func line(_ key: StaticString, _ verdict: RecordedVerdict?) {
    guard let verdict else { return }
    write(literal: key)
    switch verdict {
    case .valid: write(literal: "valid\n")
    case .invalid: write(literal: "invalid\n")
    case .undetermined: write(literal: "undetermined\n")
    }
  }

  @inline(__always)
  mutating func line(_ key: StaticString, _ check: RecordedCheck) {
    write(literal: key)
    write(check.name)
    write(UInt8(ascii: " "))
    write(check.answer.rawValue)
    write(UInt8(ascii: "\n"))
  }

  private mutating func write(_ number: UInt64) {
    var digitCount = 1
    var rest = number
    while rest >= 10 {
      rest /= 10
      digitCount += 1
    }
    guard hasRoom(digitCount) else { return }
    rest = number
    for index in stride(from: count + digitCount - 1, through: count, by: -1) {
      unsafe start[index] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
    count += digitCount
  }
}
