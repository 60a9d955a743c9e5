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

  /// The certificate of a server, read again when its files change: connections that are made then get the new one. Files
  /// that cannot be used are logged, and the certificate before them stays.
  final class ReloadingCertificates: Sendable {
    /// The greatest number of looks at the files.
    private static let interval: Duration = .seconds(10)

    private struct Loaded {
      var chain: [NIOSSLCertificateSource]
      var key: NIOSSLPrivateKeySource
      var versions: [FileVersion?]
      var checked: ContinuousClock.Instant
    }

    /// Which file a path leads to, symbolic links followed, and when it was written. Kubernetes changes neither the files nor
    /// the links to them, but a link to their directory.
    private struct FileVersion: Hashable {
      let device: UInt64
      let number: UInt64
      let byteCount: Int64
      let seconds: Int
      let nanoseconds: Int

      init?(_ path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        byteCount = Int64(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
      }
    }

    private let files: (certificates: String, privateKey: String)
    private let loaded: Mutex<Loaded>
    private let logger = Logger(label: "receipt-server.tls")

    /// - Throws: `ServiceConfigurationError` where a file cannot be used.
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

    /// Reads the files again, also if they seem unchanged.
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
      // A key of another certificate, as while both files are being replaced, must not be taken over.
      _ = try NIOSSLContext(
        configuration: .makeServerConfiguration(
          certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key)))
      return Loaded(
        chain: chain.map { .certificate($0) }, key: .privateKey(key), versions: versions, checked: .now)
    }

    private static func versions(_ files: (certificates: String, privateKey: String)) -> [FileVersion?] {
      [FileVersion(files.certificates), FileVersion(files.privateKey)]
    }
  }
#endif
