// SPDX-License-Identifier: Apache-2.0

#if Server
  import NIOSSL
  import ReceiptCrypto

  /// An open port of the sandbox or of production.
  struct ServedPort {
    let name: String
    let isProduction: Bool
    let listener: Listener

    /// Opens all ports.
    ///
    /// The first one is the plain port of the sandbox.
    static func open(_ options: ServingOptions, _ certificates: ServerCertificates) async throws
      -> [ServedPort]
    {
      let ports: [(String, UInt16, ServerCertificates.Kind?)] = [
        ("port", options.port, nil), ("productionPort", options.productionPort, nil),
        ("tlsPort", options.tlsPort, .trusted), ("productionTLSPort", options.productionTLSPort, .trusted),
        ("untrustedTLSPort", options.untrustedTLSPort, .untrusted),
        ("wrongHostTLSPort", options.wrongHostTLSPort, .wrongHost),
        ("expiredTLSPort", options.expiredTLSPort, .expired),
      ]
      var opened: [ServedPort] = []
      for (name, number, kind) in ports {
        let tls = try kind.map { try context(options, certificates, $0) }
        do {
          let listener = try await Listener.open(host: options.bind, port: Int(number), tls: tls)
          opened.append(
            ServedPort(name: name, isProduction: name.hasPrefix("production"), listener: listener))
        } catch {
          for port in opened { await port.listener.close() }
          throw ToolFailure.exit(
            ToolFailure.unavailable, "\(name) \(number) at \(options.bind) could not be opened: \(error)")
        }
      }
      return opened
    }

    private static func context(
      _ options: ServingOptions, _ certificates: ServerCertificates, _ kind: ServerCertificates.Kind
    ) throws -> NIOSSLContext {
      let chain: [NIOSSLCertificate]
      let key: NIOSSLPrivateKey
      if kind == .trusted, let certificateFile = options.tlsCertificate, let keyFile = options.tlsKey {
        do {
          chain = try NIOSSLCertificate.fromPEMFile(certificateFile)
          key = try NIOSSLPrivateKey(file: keyFile, format: .pem)
        } catch {
          throw ToolFailure.exit(
            ToolFailure.noInput, "\(certificateFile) or \(keyFile) cannot be read as PEM: \(error)")
        }
      } else {
        let issued = try certificates.issue(kind)
        chain = try NIOSSLCertificate.fromPEMBytes(Array(issued.chain.utf8))
        key = try NIOSSLPrivateKey(bytes: Array(issued.key.utf8), format: .pem)
      }
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
      configuration.minimumTLSVersion = .tlsv12
      do {
        return try NIOSSLContext(configuration: configuration)
      } catch {
        throw ToolFailure.exit(ToolFailure.noInput, "The TLS certificate and key cannot be used: \(error)")
      }
    }
  }
#endif
