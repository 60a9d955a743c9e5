// SPDX-License-Identifier: Apache-2.0

#if Server
  import ReceiptBytes
  import ReceiptCodec
  import ReceiptVerification

  /// Writes a line to standard error for each request: time, method, path, status, milliseconds, and the fault.
  struct RequestLog: Sendable {
    func record(
      _ method: String, _ target: String, status: Int?, fault: String?, since start: ContinuousClock.Instant
    ) {
      let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
      var line =
        "\(SystemClock.now().iso8601) \(method) \(ShownText.plain(target, limit: Self.longestTarget)) "
        + "\(status.map { String($0) } ?? "-") \(Int(milliseconds.rounded())) ms"
      if let fault { line += " fault \(fault)" }
      ToolFailure.write(line + "\n", to: 2)
    }

    private static let longestTarget = 500
  }
#endif
