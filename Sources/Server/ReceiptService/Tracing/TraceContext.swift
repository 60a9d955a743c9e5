// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptBytes
  package import Instrumentation

  /// The trace of a request in W3C Trace Context (<https://www.w3.org/TR/trace-context/>):
  ///
  /// ```
  /// traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
  /// tracestate: rojo=00f067aa0ba902b7,congo=t61rcWkgMzE
  /// ```
  ///
  /// The server exports no spans of its own. It propagates the context that it received, so that the spans of services
  /// that it calls are children of its caller's span.
  package struct TraceContext: Sendable, Hashable {
    /// The name of the field with identifiers and flags.
    static let parentField = "traceparent"
    /// The name of the field with the vendors' data.
    static let stateField = "tracestate"

    package let traceID: String
    /// The identifier of the caller's span: 8 bytes in hexadecimal.
    package let spanID: String
    /// The flags. Bit 0 is set if the caller records the trace.
    package let flags: UInt8
    /// The value of `tracestate` with the vendors' data; `nil` if it is absent or invalid.
    package let state: String?

    /// Parses a context; `nil` if `traceparent` is malformed and must be ignored (section 3.2.2).
    ///
    /// A malformed `tracestate` is dropped (section 3.3.1.5).
    package init?(parent: String, state: String?) {
      let bytes = Array(parent.utf8)
      guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
        let version = Self.byte(bytes[0..<2]), version != 0xFF,
        // Later versions may continue after another hyphen.
        bytes.count == 55 || version > 0 && bytes[55] == UInt8(ascii: "-"),
        Self.isIdentifier(bytes[3..<35]), Self.isIdentifier(bytes[36..<52]),
        let flags = Self.byte(bytes[53..<55])
      else { return nil }
      traceID = String(decoding: bytes[3..<35], as: UTF8.self)
      spanID = String(decoding: bytes[36..<52], as: UTF8.self)
      self.flags = flags
      self.state = state.flatMap { Self.isState($0) ? $0 : nil }
    }

    /// The value of `traceparent` in version 00, which defines only the lowest bit of the flags.
    package var parent: String { "00-\(traceID)-\(spanID)-0\(flags & 1)" }

    private static func byte(_ digits: ArraySlice<UInt8>) -> UInt8? {
      digits.allSatisfy(isDigit) ? UInt8(String(decoding: digits, as: UTF8.self), radix: 16) : nil
    }

    /// Checks that digits are hexadecimal in lower case, and not all zero.
    private static func isIdentifier(_ digits: ArraySlice<UInt8>) -> Bool {
      digits.allSatisfy(isDigit) && digits.contains { $0 != UInt8(ascii: "0") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
      UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
    }

    /// The length of `tracestate` that every participant should propagate (section 3.3.1.5); a longer one is dropped.
    private static let longestState = 512
    private static let mostMembers = 32

    private static func isState(_ text: String) -> Bool {
      guard text.utf8.count <= longestState else { return false }
      let members = text.split(separator: ",").map { Array($0.trimmed.utf8)[...] }.filter { !$0.isEmpty }
      return 1...mostMembers ~= members.count && members.allSatisfy(isMember)
    }

    /// Checks that a member has the form `key=value` (section 3.3.1.3).
    private static func isMember(_ member: ArraySlice<UInt8>) -> Bool {
      guard let equals = member.firstIndex(of: UInt8(ascii: "=")) else { return false }
      let parts = member[..<equals].split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
      let value = member[(equals + 1)...]
      let isKey =
        switch parts.count {
        case 1: parts[0].count <= 256 && isKey(parts[0])
        case 2: parts[0].count <= 241 && parts[1].count <= 14 && isKey(parts[0]) && isKey(parts[1])
        default: false
        }
      return isKey && 1...256 ~= value.count
        && value.allSatisfy { 0x20...0x7E ~= $0 && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
    }

    private static func isKey(_ key: ArraySlice<UInt8>) -> Bool {
      guard let first = key.first, isLetterOrDigit(first) else { return false }
      return key.allSatisfy { isLetterOrDigit($0) || "_-*/".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }
  }

  extension InstrumentationContext {
    private enum Key: InstrumentationContextKey { typealias Value = TraceContext }

    package var trace: TraceContext? {
      get { self[Key.self] }
      set { self[Key.self] = newValue }
    }
  }
#endif
