// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A ``DownloadableContent`` as JSON.
struct WireContent: WireForm, Hashable {
  var contentIdentifier = ""
  var contentVersion = ""
  var url = ""
  var contentLength: Int64 = 0
  var sha256 = Base64Bytes([])
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case contentIdentifier, contentVersion, url, contentLength, sha256 }
  static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .contentIdentifier: try coder.code(&contentIdentifier)
    case .contentVersion: try coder.code(&contentVersion)
    case .url: try coder.code(&url)
    case .contentLength: try coder.code(&contentLength)
    case .sha256: try coder.code(&sha256)
    }
  }
}

extension WireContent {
  init(_ value: DownloadableContent) {
    contentIdentifier = value.contentIdentifier
    contentVersion = value.contentVersion
    url = value.url
    contentLength = value.contentLength
    sha256 = Base64Bytes(value.sha256)
  }

  var value: DownloadableContent {
    DownloadableContent(
      contentIdentifier: contentIdentifier, contentVersion: contentVersion, url: url,
      contentLength: contentLength, sha256: sha256.bytes)
  }
}
