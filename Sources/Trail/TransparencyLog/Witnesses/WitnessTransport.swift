// SPDX-License-Identifier: Apache-2.0

/// The HTTP client interface through which a log sends requests to its witnesses.
///
/// A witness may be slow, down or hostile. A transport must return within `timeout`, read no more than
/// `maximumByteCount`, follow no redirects and stop when its task is cancelled. Callers do not rely on that: they
/// abandon a call that does not return, and send nothing to that witness until it does.
public protocol WitnessTransport: Sendable {
  /// Sends a request once and reads the whole response. It must not block its thread.
  ///
  /// - Parameters:
  ///   - body: The body of the `POST` request.
  ///   - url: The URL to send it to.
  ///   - timeout: The time from the start until the last byte of the response.
  ///   - maximumByteCount: The longest body to read; a longer one is an error.
  /// - Returns: The response, with any status.
  /// - Throws: ``WitnessTransportError`` if there is no response.
  func post(
    _ body: [UInt8], to url: String, timeout: Duration, maximumByteCount: Int
  ) async throws(WitnessTransportError) -> WitnessResponse
}

extension WitnessRefusal: Error, CustomStringConvertible {
  init(_ witness: String, _ error: WitnessTransportError) {
    // The codes have the same names, but a transport that cannot be used reaches nobody.
    self.init(witness, Code(rawValue: error.code.rawValue) ?? .unreachable, error.message)
  }

  /// The witness, the code and the message, on one line.
  public var description: String { "\(witness) (\(code.rawValue): \(message))" }
}
