// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Locking
internal import ReceiptBytes

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#else
  internal import Darwin
#endif

extension PrivateKey {
  /// Finds a private key in a PKCS#11 token, which signs with it. The key never leaves the token.
  ///
  /// It is reached by OpenSSL's provider `pkcs11` (package pkcs11-provider) where that can be loaded, and by the engine
  /// `pkcs11` (package libengine-pkcs11-openssl) otherwise. The token's module is the URI's `module-path`; without one, the
  /// environment variable `PKCS11_PROVIDER_MODULE` (provider) or `PKCS11_MODULE_PATH` (engine) or the system's
  /// configuration names it. The login ends with the process.
  ///
  /// - Parameters:
  ///   - uri: A PKCS#11 URI (RFC 7512), such as `pkcs11:token=shop;object=signer;type=private`. `pin-source` may name a
  ///     file with the PIN. `pin-value` is refused: others would read it in a command line or a file of settings.
  ///   - pin: The token's PIN; that of `pin-source` if `nil`.
  /// - Throws: ``CryptoError`` with `tokenUnavailable` if module, token or key are not there, `wrongPassphrase` if the
  ///   token refuses the PIN, `malformedKey` for a malformed URI, or `unsupportedKey`. One attempt is made with a PIN: a
  ///   token locks itself after a few.
  public init(tokenURI uri: String, pin: [UInt8]? = nil) throws(CryptoError) {
    let parsed = try TokenURI(uri)
    let pin = if let pin { pin } else { try parsed.pinFromSource() }
    guard pin?.contains(0) != true, pin?.count ?? 0 < 256 else {
      throw CryptoError(.wrongPassphrase, "A PIN has at most 255 bytes, none of them zero.")
    }
    ErrorQueue.clear()
    var cString = (pin ?? []).map { CChar(bitPattern: $0) } + [0]
    defer { unsafe cString.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) } }
    let given = pin != nil
    let loaded: OpaquePointer?
    switch try TokenLibrary.find(module: parsed.module) {
    case .provider:
      unsafe loaded = cString.withUnsafeMutableBufferPointer { pin in
        unsafe COpenSSL_OSSL_STORE_load_private_key(parsed.uri, given ? pin.baseAddress : nil)
      }
    case .engine:
      unsafe loaded = cString.withUnsafeMutableBufferPointer { pin in
        unsafe COpenSSL_ENGINE_load_private_key(
          TokenLibrary.name, parsed.module, parsed.uri, given ? pin.baseAddress : nil)
      }
    }
    guard let key = unsafe loaded else {
      let errors = ErrorQueue.drain()
      let isAboutPIN = errors.contains { $0.reason.contains("PIN") }
      throw CryptoError(
        isAboutPIN ? .wrongPassphrase : .tokenUnavailable,
        isAboutPIN
          ? "The token refuses the PIN of \(parsed.uri). It locks itself after a few wrong ones."
          : "There is no private key at \(parsed.uri): the module, the token or the object is missing, or the PIN "
            + "is \(given ? "wrong" : "missing"). List what is there with: pkcs11-tool --list-objects --login",
        openSSLErrors: errors)
    }
    try unsafe self.init(takingOwnership: key, tokenURI: parsed.stated)
  }

  /// Indicates whether a text is the URI of a key in a token, rather than the name of a file.
  package static func isTokenURI(_ text: String) -> Bool { text.lowercased().hasPrefix("pkcs11:") }
}

/// A PKCS#11 URI with the parts that OpenSSL's modules do not agree about.
private struct TokenURI {
  /// The URI as it was given.
  let stated: String
  /// The URI without `pin-source` and `module-path`, which are handled here.
  let uri: String
  let module: String?
  private let pinSource: String?

  init(_ text: String) throws(CryptoError) {
    guard PrivateKey.isTokenURI(text), text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), text.utf8.count <= 4096
    else {
      throw CryptoError(
        .malformedKey, "A PKCS#11 URI begins with \"pkcs11:\" and is printable ASCII (RFC 7512).")
    }
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    // Any key of any token would do otherwise.
    guard
      parts[0].dropFirst("pkcs11:".count).split(separator: ";").contains(where: {
        $0.hasPrefix("object=") || $0.hasPrefix("id=")
      })
    else {
      throw CryptoError(
        .malformedKey, "A PKCS#11 URI of a key names it by object or id: pkcs11:token=shop;object=signer")
    }
    var query: [Substring] = []
    var module: String?
    var pinSource: String?
    for attribute in parts.dropFirst().first?.split(separator: "&") ?? [] {
      let pair = attribute.split(separator: "=", maxSplits: 1)
      let value = pair.count > 1 ? Self.decoded(pair[1]) : nil
      switch pair.first {
      case "pin-value":
        throw CryptoError(
          .malformedKey,
          "The URI has a PIN in it, which others can read. Put the PIN in a file: pin-source=file:PATH")
      case "pin-source": pinSource = value
      case "module-path": module = value
      default: query.append(attribute)
      }
    }
    self.stated = text
    self.uri = String(parts[0]) + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    self.module = module
    self.pinSource = pinSource
  }

  func pinFromSource() throws(CryptoError) -> [UInt8]? {
    guard let pinSource else { return nil }
    var path = pinSource
    if path.hasPrefix("file:") { path.removeFirst("file:".count) }
    if path.hasPrefix("//") { path.removeFirst(2) }
    guard path.hasPrefix("/"), var pin = try? FileSystem.read(path, limit: 4096) else {
      throw CryptoError(
        .tokenUnavailable, "The file of pin-source cannot be read; its name begins with a slash.",
        openSSLErrors: [])
    }
    while let last = pin.last, last == 0x0A || last == 0x0D { pin.removeLast() }
    return pin
  }

  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(Hexadecimal.value),
        let low = rest.popFirst().flatMap(Hexadecimal.value)
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

/// The part of OpenSSL that speaks PKCS#11.
private enum TokenLibrary {
  case provider, engine

  static let name = "pkcs11"

  /// The library of this process, which is found once: a key that was loaded holds it.
  private static let found = PosixMutex<TokenLibrary?>(nil)

  static func find(module: String?) throws(CryptoError) -> TokenLibrary {
    let library = found.withLock { found in
      if found == nil { found = load(module) }
      return found
    }
    guard let library else {
      throw ErrorQueue.error(
        .tokenUnavailable,
        "This OpenSSL speaks no PKCS#11. Install pkcs11-provider, or libengine-pkcs11-openssl on Debian 12.")
    }
    return library
  }

  private static func load(_ module: String?) -> TokenLibrary? {
    // The provider takes its module from the environment alone, until OpenSSL 3.5.
    if let module { _ = unsafe setenv("PKCS11_PROVIDER_MODULE", module, 0) }
    if unsafe OSSL_PROVIDER_available(nil, name) == 1 { return .provider }
    // A provider that is loaded by name must not take the place of those that come without being asked for, nor their
    // algorithms: they are loaded by a first use.
    _ = Digest.hash([], using: .sha256)
    unsafe EVP_MD_free(EVP_MD_fetch(nil, "SHA2-256", nil))
    if unsafe OSSL_PROVIDER_try_load(nil, name, 1) != nil { return .provider }
    ErrorQueue.clear()
    return unsafe COpenSSL_ENGINE_is_available(name) == 1 ? .engine : nil
  }
}
