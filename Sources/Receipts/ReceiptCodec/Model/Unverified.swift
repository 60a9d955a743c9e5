// SPDX-License-Identifier: Apache-2.0

/// Content that was decoded and that nobody has verified: anybody may have written it.
///
/// Decoding alone returns this. The content itself comes out of a verifier, in a `VerifiedReceipt`, or where the caller
/// says by name that no proof is needed: to show what a file holds, for example.
///
/// ```swift
/// let jws = try UnverifiedJWS(parsing: bytes)
/// let claims = try jws.decoded().unsafelyAssumeAuthentic()
/// ```
public struct Unverified<Content: Sendable & Hashable>: Sendable, Hashable {
  package let content: Content

  package init(_ content: Content) { self.content = content }

  /// The content, without any proof of where it comes from. Never decide on it what a customer may use.
  public func unsafelyAssumeAuthentic() -> Content { content }
}
