// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Authenticated encryption with AES-256-GCM (NIST SP 800-38D) through OpenSSL's EVP, without associated data. A sealed
/// message consists of the nonce (12 bytes), the ciphertext, which has the length of the message, and the tag (16
/// bytes). One value can seal and open many messages, one after the other, each with its own key.
@safe
package struct AES256GCM: ~Copyable {
  package static let nonceByteCount = 12
  package static let tagByteCount = 16
  /// The number of bytes by which a sealed message is longer than the message.
  package static let overhead = nonceByteCount + tagByteCount

  private let context: OpaquePointer

  package init() {
    // Only fails if memory cannot be allocated, or if OpenSSL was built without AES.
    guard let context = unsafe EVP_CIPHER_CTX_new(),
      unsafe EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, nil, nil, 1) == 1
    else { preconditionFailure("libcrypto has no AES-256-GCM") }
    unsafe self.context = context
  }

  deinit { unsafe EVP_CIPHER_CTX_free(context) }

  /// Seals a message and appends it to `output`.
  ///
  /// - Parameters:
  ///   - message: The message, of less than 2^31 bytes.
  ///   - key: The key, 32 bytes.
  ///   - nonce: A nonce of 12 bytes that no other message has under this key.
  ///   - output: The array to which the sealed message is appended.
  package mutating func seal(
    _ message: Span<UInt8>, key: PrefixedSHA256.Words, nonce: Span<UInt8>, into output: inout [UInt8]
  ) {
    precondition(nonce.count == Self.nonceByteCount, "a nonce of AES-256-GCM has 12 bytes")
    let count = message.count
    output.append(addingCapacity: Self.overhead + count) { room in
      unsafe room.withUnsafeMutableBufferPointer { memory, initialized in
        for index in nonce.indices { unsafe memory[index] = nonce[index] }
        guard let start = unsafe memory.baseAddress.map({ unsafe $0 + Self.nonceByteCount }) else { return }
        let isSealed = unsafe crypt(message, to: start, key: key, nonce: nonce, isSealing: true) {
          unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), start + count)
            == 1
        }
        precondition(isSealed, "libcrypto could not encrypt")
        initialized = Self.overhead + count
      }
    }
  }

  /// Returns the message in a sealed message; `nil` if it was not sealed with this key or was modified.
  package mutating func open(_ sealed: Span<UInt8>, key: PrefixedSHA256.Words) -> [UInt8]? {
    let count = sealed.count - Self.overhead
    guard count >= 0 else { return nil }
    var isGenuine = false
    let message = unsafe [UInt8](unsafeUninitializedCapacity: count) { memory, initialized in
      unsafe sealed.withUnsafeBufferPointer { input in
        guard let input = input.baseAddress else { return }
        let nonce = sealed.extracting(0..<Self.nonceByteCount)
        let tag = unsafe UnsafeMutableRawPointer(mutating: input + (sealed.count - Self.tagByteCount))
        let ciphertext = sealed.extracting(Self.nonceByteCount..<Self.nonceByteCount + count)
        // An empty array has no memory, so a variable stands in for it.
        var none: UInt8 = 0
        isGenuine = unsafe withUnsafeMutablePointer(to: &none) { none in
          unsafe crypt(
            ciphertext, to: memory.baseAddress ?? none, key: key, nonce: nonce, isSealing: false,
            beforeEnd: {
              unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), tag) == 1
            }, atEnd: { true })
        }
        initialized = isGenuine ? count : 0
      }
    }
    ERR_clear_error()
    return isGenuine ? message : nil
  }

  private func crypt(
    _ input: Span<UInt8>, to output: UnsafeMutablePointer<UInt8>, key: PrefixedSHA256.Words,
    nonce: Span<UInt8>, isSealing: Bool, beforeEnd: () -> Bool = { true }, atEnd: () -> Bool
  ) -> Bool {
    guard let length = Int32(exactly: input.count) else { return false }
    return unsafe withUnsafeBytes(of: key) { key in
      unsafe nonce.withUnsafeBufferPointer { nonce in
        unsafe input.withUnsafeBufferPointer { input in
          var written: Int32 = 0
          let keyStart = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self)
          guard
            unsafe EVP_CipherInit_ex(context, nil, nil, keyStart, nonce.baseAddress, isSealing ? 1 : 0) == 1,
            unsafe length == 0
              || EVP_CipherUpdate(context, output, &written, input.baseAddress, length) == 1,
            beforeEnd(),
            unsafe EVP_CipherFinal_ex(context, output + Int(written), &written) == 1
          else { return false }
          return atEnd()
        }
      }
    }
  }
}

// The context has a single owner, and moves between threads only together with it.
extension AES256GCM: @unchecked Sendable {}
