// SPDX-License-Identifier: Apache-2.0

#if Server
  import Foundation
  import Logging
  import NIOCore
  import NIOSSL
  import ReceiptService
  import Synchronization

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// A server's certificate, which is reloaded when its files change.
  ///
  /// New connections get the new certificate. If the files cannot be used, this is logged, and the previous certificate
  /// stays in use.
  final class ReloadingCertificates: Sendable {
    /// The minimum time between two checks of the files.
    private static let interval: Duration = .seconds(10)

    private struct Loaded {
      var chain: [NIOSSLCertificateSource]
      var key: NIOSSLPrivateKeySource
      var versions: [[Int]?]
      var checked: ContinuousClock.Instant
    }

    private let files: (certificates: String, privateKey: String)
    private let loaded: Mutex<Loaded>
    private let logger = Logger(label: "receipt-server.tls")

    /// - Throws: `ServiceConfigurationError` if a file cannot be used.
    init(_ files: (certificates: String, privateKey: String)) throws {
      self.files = files
      do {
        loaded = Mutex(try Self.load(files))
      } catch {
        throw ServiceConfigurationError("listen.tls", "\(files.certificates), \(files.privateKey): \(error)")
      }
    }

    func configuration() throws -> TLSConfiguration {
      let first = loaded.withLock { ($0.chain, $0.key) }
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: first.0, privateKey: first.1)
      configuration.minimumTLSVersion = .tlsv12
      configuration.sslContextCallback = { [self] _, promise in
        var override = NIOSSLContextConfigurationOverride()
        (override.certificateChain, override.privateKey) = current()
        promise.succeed(override)
      }
      return configuration
    }

    /// Reloads the files, even if they seem unchanged.
    func reload() { loaded.withLock { reload(&$0) } }

    private func current() -> ([NIOSSLCertificateSource], NIOSSLPrivateKeySource) {
      loaded.withLock { loaded in
        let now = ContinuousClock.now
        if now - loaded.checked >= Self.interval {
          loaded.checked = now
          if Self.versions(files) != loaded.versions { reload(&loaded) }
        }
        return (loaded.chain, loaded.key)
      }
    }

    private func reload(_ loaded: inout Loaded) {
      do {
        loaded = try Self.load(files)
        logger.notice("The certificate was read again.")
      } catch {
        logger.error(
          "The certificate cannot be used; the one before it stays.", metadata: ["error": "\(error)"])
      }
    }

    private static func load(_ files: (certificates: String, privateKey: String)) throws -> Loaded {
      let versions = versions(files)
      let chain = try NIOSSLCertificate.fromPEMFile(files.certificates)
      let key = try NIOSSLPrivateKey(file: files.privateKey, format: .pem)
      // Fails if the key does not match the certificate, which happens while both files are being replaced.
      _ = try NIOSSLContext(
        configuration: .makeServerConfiguration(
          certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key)))
      return Loaded(
        chain: chain.map { .certificate($0) }, key: .privateKey(key), versions: versions, checked: .now)
    }

    private static func versions(_ files: (certificates: String, privateKey: String)) -> [[Int]?] {
      [version(of: files.certificates), version(of: files.privateKey)]
    }

    /// The identity, size and modification time of the file at a path, after following symbolic links.
    ///
    /// Kubernetes changes neither the files nor the links to them, but a link to their directory.
    private static func version(of path: String) -> [Int]? {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      return [
        Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), Int(status.st_size),
        status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
      ]
    }
  }
#endif
