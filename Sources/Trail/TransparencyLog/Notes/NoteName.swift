// SPDX-License-Identifier: Apache-2.0

/// The names of keys in notes.
enum NoteName {
  /// Checks that a name is not empty and has no white space, plus or control character.
  static func check(_ name: String, _ place: LogFormatError.Place) throws(LogFormatError) {
    let isValid =
      !name.isEmpty
      && name.unicodeScalars.allSatisfy {
        $0.value >= 0x20 && $0 != "+" && !$0.properties.isWhitespace
      }
    guard isValid else {
      throw LogFormatError(
        .malformedName, place,
        "the name of a key is not empty and has no white space, plus or control character")
    }
  }

  /// Reads a name from UTF-8 and checks it.
  static func read(
    _ bytes: ArraySlice<UInt8>, _ place: LogFormatError.Place
  ) throws(LogFormatError) -> String {
    guard let name = String(validating: bytes, as: UTF8.self) else {
      throw LogFormatError(.notUTF8, place, "the name is not UTF-8")
    }
    try check(name, place)
    return name
  }
}
