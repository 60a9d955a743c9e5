// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  import AppStoreEmulator
  import ArgumentParser
  import NIOCore
  import NIOSSL
  import ReceiptCodec
  import ReceiptCrypto
  import ReceiptSigning
  import ReceiptTesting
  import ReceiptVerification

  /// The stores and ports of one process.
  struct Emulation {
    let options: AppStoreEmulatorTool

    func run() async throws {
      let signing = try signing()
      let developerKey = try developerKey()
      let certificates = try prepared { () throws(CryptoError) in
        try ServerCertificates(now: Int64(SystemClock.now().millisecondsSince1970 / 1000))
      }
      let files = StateDirectory(path: options.state)
      try files.write(
        signing: signing, tlsAuthority: certificates.authority, developerKey: developerKey, options: options)

      let end = EndSignal()
      let sandbox = store(.sandbox, signing, developerKey.publicKey)
      let production = store(.production, signing, developerKey.publicKey)
      let controls = [sandbox, production].map { EmulatorControl($0, shutdown: { end.fire() }) }

      var listeners: [(name: String, listener: Listener)] = []
      do {
        listeners.append(
          ("port", try await .open(port: options.port, tls: nil, store: sandbox, control: controls[0])))
        listeners.append(
          ("productionPort", try await .open(port: 0, tls: nil, store: production, control: controls[1])))
        for kind in ServerCertificates.Kind.allCases {
          let context = try Self.context(certificates, kind)
          listeners.append(
            (
              Self.portNames[kind] ?? "",
              try await .open(port: 0, tls: context, store: sandbox, control: controls[0])
            ))
        }
        let context = try Self.context(certificates, .trusted)
        listeners.append(
          (
            "productionTLSPort",
            try await .open(port: 0, tls: context, store: production, control: controls[1])
          ))
      } catch {
        throw ToolFailure.exit(ToolFailure.unavailable, "no port could be opened: \(error)")
      }
      ToolFailure.write(files.readyLine(ports: listeners.map { ($0.name, $0.listener.port) }), to: 1)
      try await serve(listeners.map(\.listener), until: end)
    }

    private static let portNames: [ServerCertificates.Kind: String] = [
      .trusted: "tlsPort", .untrusted: "untrustedTLSPort", .wrongHost: "wrongHostTLSPort",
      .expired: "expiredTLSPort",
    ]

    private func serve(_ listeners: [Listener], until end: EndSignal) async throws {
      await withTaskGroup(of: Void.self) { group in
        for listener in listeners { group.addTask { try? await listener.serve() } }
        group.addTask { await end.wait() }
        // Serving does not end by itself, so the first to end is the signal.
        await group.next()
        group.cancelAll()
      }
    }

    private func store(
      _ environment: ReceiptEnvironment, _ signing: EmulatorSigning, _ developerKey: PublicKey
    ) -> EmulatedAppStore {
      let key = DeveloperKey(keyId: options.keyId, issuerId: options.issuerId, publicKey: developerKey)
      let store = EmulatedAppStore(
        .init(
          environment: environment, bundleId: options.bundleId, appAppleId: options.appAppleId,
          developerKeys: options.noTokenChecks ? nil : [key], sharedSecret: options.sharedSecret),
        signing: signing)
      if options.sample,
        let seed = try? EmulatorSeed(
          json: .object([JSONMember(name: "sample", value: .bool(true))]), configuration: store.configuration)
      {
        store.state.withState { seed.apply(to: &$0) }
      }
      return store
    }

    private func signing() throws -> EmulatorSigning {
      do throws(SigningError) {
        let jws =
          if options.authority == "test" { try TestAuthority.es256().identity } else {
            try IdentityDirectory(options.authority).load()
          }
        let receipts =
          if options.receiptAuthority == "test" { try TestAuthority.rsa().identity } else {
            try IdentityDirectory(options.receiptAuthority).load()
          }
        return try EmulatorSigning(jws: jws, appReceipts: receipts)
      } catch {
        throw ToolFailure.exit(ToolFailure.noInput, error.description)
      }
    }

    private func developerKey() throws -> PrivateKey {
      do throws(SigningError) {
        guard let path = options.developerKey else { return try TestKeys.developer() }
        return try SigningIdentity.privateKey(inFile: FileStore.read(path))
      } catch {
        throw ToolFailure.exit(ToolFailure.noInput, error.description)
      }
    }

    private static func context(
      _ certificates: ServerCertificates, _ kind: ServerCertificates.Kind
    ) throws -> NIOSSLContext {
      let (chain, key) = try certificates.issue(kind)
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(chain.utf8)).map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
      configuration.minimumTLSVersion = .tlsv12
      return try NIOSSLContext(configuration: configuration)
    }

    private func prepared<Value>(_ make: () throws(CryptoError) -> Value) throws -> Value {
      do throws(CryptoError) {
        return try make()
      } catch {
        throw ToolFailure.exit(ToolFailure.unavailable, "the TLS certificates could not be made: \(error)")
      }
    }
  }
#endif
