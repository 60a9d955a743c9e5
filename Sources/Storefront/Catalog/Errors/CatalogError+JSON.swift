// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension CatalogError {
  /// Converts an error of the JSON reader. Its place is always a JSON path, also where the reader states a byte offset.
  init(_ error: MalformedReceipt, in bytes: [UInt8]) {
    let path: String
    var offset: Int?
    switch error.place {
    case .jsonPath(let text): path = text
    case .byteOffset(let found, _):
      path = JSONPathFinder.path(at: found, in: bytes)
      offset = found
    default: path = "$"
    }
    let isValue = offset == nil
    let code: Code =
      switch error.code {
      case .missing: .missing
      case .wrongType: .wrongType
      case .duplicate: .duplicateMember
      case .tooLarge, .tooDeep: .tooLarge
      case .outOfRange, .invalidValue: isValue ? .invalidValue : .notJSON
      default: .notJSON
      }
    self.init(code, at: path, byteOffset: offset, error.message)
  }
}
