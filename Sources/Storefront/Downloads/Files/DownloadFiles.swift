// SPDX-License-Identifier: Apache-2.0

/// Stores the bytes of downloads: a partial file becomes a complete one. Names are hexadecimal digits, so that no text
/// from a server becomes part of a path.
package protocol DownloadFiles: Sendable {
  /// The length of a file; `nil` if there is none.
  func byteCount(of file: DownloadFile) throws(DownloadError) -> Int64?

  /// Appends to a partial file, which is created if it does not exist.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to append.
  ///   - name: The name of the file.
  ///   - offset: The length that it must have.
  /// - Returns: Whether it has that length. If not, nothing is written.
  /// - Throws: ``DownloadError`` with `disk-full` or `input-output`; the file's length is then unchanged.
  func append(_ bytes: [UInt8], to name: String, at offset: Int64) throws(DownloadError) -> Bool

  /// Reads at most `count` bytes from an offset; none at the end.
  func read(_ file: DownloadFile, at offset: Int64, count: Int) throws(DownloadError) -> [UInt8]

  /// Syncs the partial file and renames it to the complete one; if only the complete one exists, syncs that. When this
  /// returns, bytes and name survive a crash.
  func complete(_ name: String) throws(DownloadError)

  /// Removes a file if it exists.
  func remove(_ file: DownloadFile) throws(DownloadError)

  /// The names of the partial files.
  func partialNames() throws(DownloadError) -> [String]

  /// The path of a complete file.
  func path(of name: String) -> String
}

/// One of the two files of a download.
package enum DownloadFile: Sendable, Hashable {
  case partial(String)
  case complete(String)
}
