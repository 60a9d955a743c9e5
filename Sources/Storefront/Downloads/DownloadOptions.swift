// SPDX-License-Identifier: Apache-2.0

public import ReceiptHTTP

/// How a queue downloads.
public struct DownloadOptions: Sendable {
  /// The directory for the files, which is made if it is not there. Nothing else belongs in it.
  public var directory: String
  /// What sends the requests. It stays the caller's, who shuts it down.
  public var transport: any HTTPTransport
  /// How much is asked for at a time, and so how much of a download is in memory.
  public let chunkByteCount: Int
  /// The longest content that is read into memory as a whole, from servers that do not give parts.
  public let maximumWholeByteCount: Int
  /// How many downloads are active at a time; others wait.
  public let maximumActiveCount: Int
  /// How often and how long each part is tried before the download fails.
  public var retry: RetryPolicy
  /// The clocks.
  public var time: RemoteTime

  /// Creates options.
  ///
  /// - Parameters:
  ///   - directory: Where the files are.
  ///   - transport: What sends the requests.
  ///   - chunkByteCount: How much is asked for at a time; 4 MiB, at least 1 KiB and at most 64 MiB.
  ///   - maximumWholeByteCount: The longest content from servers that do not give parts; 64 MiB.
  ///   - maximumActiveCount: How many are active at a time; two.
  ///   - retry: How each part is tried; six times within five minutes.
  ///   - time: The clocks.
  public init(
    directory: String, transport: any HTTPTransport, chunkByteCount: Int = 4 << 20,
    maximumWholeByteCount: Int = 64 << 20, maximumActiveCount: Int = 2,
    retry: RetryPolicy = RetryPolicy(
      maximumAttempts: 6, maximumDelay: .seconds(30), deadline: .seconds(300), attemptTimeout: .seconds(120)),
    time: RemoteTime = .system
  ) {
    self.directory = directory
    self.transport = transport
    self.chunkByteCount = min(max(chunkByteCount, 1 << 10), 64 << 20)
    self.maximumWholeByteCount = max(maximumWholeByteCount, 0)
    self.maximumActiveCount = max(maximumActiveCount, 1)
    self.retry = retry
    self.time = time
  }
}
