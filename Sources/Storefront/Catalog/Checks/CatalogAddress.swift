// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP

/// The addresses of content. Whether an unencrypted one is used is decided when it is fetched.
enum CatalogAddress {
  static func check(_ url: String, at path: String) throws(CatalogError) {
    do throws(RemoteURL.Failure) {
      _ = try RemoteURL(url, allowsPlainHTTP: true)
    } catch {
      throw CatalogError(.invalidDownload, at: path, error.description)
    }
  }
}
