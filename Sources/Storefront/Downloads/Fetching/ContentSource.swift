// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP

/// Content whose description is valid: an address that may be requested, a length and a digest.
struct ContentSource: Sendable, Hashable {
  let url: RemoteURL
  let length: Int64
  let sha256: [UInt8]

  init(_ content: DownloadableContent) throws(DownloadError) {
    let place = content.contentIdentifier
    do throws(RemoteURL.Failure) {
      url = try RemoteURL(content.url)
    } catch {
      throw DownloadError(.invalidContent, at: place, error.description)
    }
    guard content.contentLength >= 0, content.contentLength <= 1 << 50 else {
      throw DownloadError(
        .invalidContent, at: place, "A length of \(content.contentLength) bytes cannot be right.")
    }
    guard content.sha256.count == 32 else {
      throw DownloadError(.invalidContent, at: place, "The SHA-256 has not 32 bytes.")
    }
    length = content.contentLength
    sha256 = content.sha256
  }
}
