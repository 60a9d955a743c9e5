// SPDX-License-Identifier: Apache-2.0

/// Where downloads put their bytes: files in pairs, a partial one that becomes a complete one. Names are hexadecimal
/// digits, so that nothing that a server says can lead anywhere.
package protocol DownloadFiles: Sendable {
  /// The length of a file; `nil` if there is none.
  func byteCount(of file: DownloadFile) throws(DownloadError) -> Int64?

  /// Appends to a partial file, which is made if it is not there.
  ///
  /// - Parameters:
  ///   - bytes: What is appended.
  ///   - name: Which file.
  ///   - offset: The length that it must have.
  /// - Returns: Whether it has that length. If not, nothing is written.
  /// - Throws: ``DownloadError`` with `disk-full` or `input-output`; then it has that length still.
  func append(_ bytes: [UInt8], to name: String, at offset: Int64) throws(DownloadError) -> Bool

  /// Reads at most `count` bytes from an offset on; none at the end.
  func read(_ file: DownloadFile, at offset: Int64, count: Int) throws(DownloadError) -> [UInt8]

  /// Has the partial file on disk and makes it the complete one; where there is only that, has that on disk. When this
  /// returns, bytes and name outlast a crash.
  func complete(_ name: String) throws(DownloadError)

  /// Removes a file; one that is not there is no error.
  func remove(_ file: DownloadFile) throws(DownloadError)

  /// The names of the partial files.
  func partialNames() throws(DownloadError) -> [String]

  /// Where a complete file is.
  func path(of name: String) -> String
}

/// One of the two files of a download.
package enum DownloadFile: Sendable, Hashable {
  case partial(String)
  case complete(String)
}
