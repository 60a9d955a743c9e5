// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#else
  internal import Darwin
#endif

package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// The bytes in network order: 4 for IPv4, 16 for IPv6.
  package let bytes: [UInt8]

  /// Creates an address from its bytes; `nil` unless there are 4 or 16.
  package init?(bytes: some Collection<UInt8>) {
    guard [4, 16].contains(bytes.count) else { return nil }
    self.bytes = Array(bytes)
  }

  /// Returns the addresses of a host in the order in which to try them. It blocks until the system's resolver answers.
  ///
  /// - Parameters:
  ///   - host: A name, or an address in any form that the resolver accepts.
  ///   - isNumeric: `true` to accept addresses only, and no names.
  /// - Returns: The addresses; empty if the host cannot be resolved.
  package static func resolve(_ host: String, isNumeric: Bool = false) -> [IPAddress] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags = isNumeric ? AI_NUMERICHOST : AI_ADDRCONFIG
    #if canImport(Glibc)
      unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      unsafe hints.ai_socktype = SOCK_STREAM
    #endif
    var list: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
    defer { unsafe freeaddrinfo(list) }
    var addresses: [IPAddress] = []
    var next = unsafe list
    while let info = unsafe next {
      if let address = unsafe IPAddress(info.pointee.ai_addr) { addresses.append(address) }
      unsafe next = info.pointee.ai_next
    }
    return addresses
  }

  private init?(_ address: UnsafeMutablePointer<sockaddr>?) {
    guard let address = unsafe address else { return nil }
    switch Int32(unsafe address.pointee.sa_family) {
    case AF_INET:
      bytes = unsafe UnsafeRawPointer(address).withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        unsafe withUnsafeBytes(of: $0.pointee.sin_addr) { unsafe Array($0) }
      }
    case AF_INET6:
      bytes = unsafe UnsafeRawPointer(address).withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        unsafe withUnsafeBytes(of: $0.pointee.sin6_addr) { unsafe Array($0) }
      }
    default: return nil
    }
  }

  /// The address as text; an IPv6 address is written with all eight groups.
  package var description: String {
    guard bytes.count == 16 else { return bytes.map { String($0) }.joined(separator: ".") }
    return stride(from: 0, to: 16, by: 2).map { index in
      String(UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]), radix: 16)
    }.joined(separator: ":")
  }
}
