// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptBytes

  extension IPAddress {
    /// `true` if the address is a global unicast address.
    ///
    /// Loopback, private, link-local and multicast addresses are not, nor are those in the IANA registries of
    /// special-purpose addresses (RFC 6890). An IPv6 address that embeds an IPv4 address is global if the latter is.
    var isGlobalUnicast: Bool {
      if let embedded { return embedded.isGlobalUnicast }
      let blocks = bytes.count == 4 ? Self.setAside : Self.setAside6
      let isAssigned = bytes.count == 4 || bytes[0] & 0xE0 == 0x20
      return isAssigned && !blocks.contains { prefix, length in begins(with: prefix, length) }
    }

    private static let setAside: [([UInt8], Int)] = [
      ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12), ([192, 0, 0], 24),
      ([192, 0, 2], 24), ([192, 88, 99], 24), ([192, 168], 16), ([198, 18], 15), ([198, 51, 100], 24),
      ([203, 0, 113], 24), ([224], 4), ([240], 4),
    ]

    /// Prefixes within 2000::/3 that are not global: protocol assignments, including Teredo, and documentation.
    private static let setAside6: [([UInt8], Int)] = [
      ([0x20, 0x01, 0x00], 23), ([0x20, 0x01, 0x0D, 0xB8], 32), ([0x3F, 0xFF, 0x00], 20),
    ]

    /// The prefixes of IPv6 addresses that embed an IPv4 address, and its offset: mapped (RFC 4291), NAT64 (RFC 6052),
    /// 6to4 (RFC 3056).
    private static let embeddings: [(prefix: [UInt8], at: Int)] = [
      ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 12), ([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0], 12),
      ([0x20, 0x02], 2),
    ]

    private var embedded: IPAddress? {
      guard bytes.count == 16 else { return nil }
      // ISATAP (RFC 5214) embeds it in the interface identifier, after any prefix.
      if bytes[8] & 0xFD == 0, bytes[9..<12] == [0, 0x5E, 0xFE] { return IPAddress(bytes: bytes[12...]) }
      guard let start = Self.embeddings.first(where: { bytes.starts(with: $0.prefix) })?.at else {
        return nil
      }
      return IPAddress(bytes: bytes[start..<start + 4])
    }

    private func begins(with prefix: [UInt8], _ length: Int) -> Bool {
      prefix.indices.allSatisfy { index in
        let mask = UInt8(truncatingIfNeeded: 0xFF << max(0, 8 * (index + 1) - length))
        return bytes[index] & mask == prefix[index] & mask
      }
    }
  }
#endif
