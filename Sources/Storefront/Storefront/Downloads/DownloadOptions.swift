// SPDX-License-Identifier: Apache-2.0

public import ReceiptHTTP

/// The options of a queue's downloads.
public struct DownloadOptions: Sendable {
  let directory: String
  package var transport: any HTTPTransport
  /// The size of one range request, which bounds the part of a download that is in memory.
  package let chunkByteCount: Int
  /// The longest content that is read into memory as a whole, from servers that do not support range requests.
  package let maximumWholeByteCount: Int
  package let maximumActiveCount: Int
  package var retry: RetryPolicy
  package var time: RemoteTime

  /// Creates options.
  ///
  /// - Parameters:
  ///   - directory: The directory for the files. It is created if it does not exist, and must hold nothing else.
  ///   - transport: Sends the requests. The caller owns it and shuts it down.
  ///   - chunkByteCount: The size of one range request; 4 MiB, at least 1 KiB and at most 64 MiB.
  ///   - maximumWholeByteCount: The longest content from servers without support for range requests; 64 MiB.
  ///   - maximumActiveCount: The number of active downloads; two.
  ///   - retry: The retry policy of each request; six attempts within five minutes.
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
