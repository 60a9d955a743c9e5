// SPDX-License-Identifier: Apache-2.0

/// Decoded content that has not been verified: anyone may have written it.
///
/// Decoding returns this type. A verifier returns the content itself, in a `VerifiedReceipt`. A caller that needs no
/// proof, for example to display the contents of a file, calls ``unsafelyAssumeAuthentic()``, whose name says so.
///
/// ```swift
/// let jws = try UnverifiedJWS(parsing: bytes)
/// let claims = try jws.decoded().unsafelyAssumeAuthentic()
/// ```
public struct Unverified<Content: Sendable & Hashable>: Sendable, Hashable {
  package let content: Content

  package init(_ content: Content) { self.content = content }

  /// Returns the content without any proof of its origin. Never base a customer's entitlements on it.
  public func unsafelyAssumeAuthentic() -> Content { content }
}
