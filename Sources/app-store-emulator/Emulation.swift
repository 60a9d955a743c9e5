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
      let end = EndSignal(endsWithInput: !options.keepRunning)
      let developerKey = try developerKey()
      let certificates = try prepared { () throws(CryptoError) in
        try ServerCertificates(now: Int64(SystemClock.now().millisecondsSince1970 / 1000))
      }
      // Do everything that can fail before opening the ports. The roots do not depend on the port.
      let files = StateDirectory(path: options.state)
      try files.write(
        signing: try signing(ocspPort: 0), tlsAuthority: certificates.authority, developerKey: developerKey,
        options: options)
      defer { if options.removeState { files.remove() } }

      // Certificates contain the port of their OCSP responder.
      let ports = try await openPorts(certificates)
      let signing = try signing(ocspPort: ports[0].listener.port)
      let sandbox = store(.sandbox, signing, developerKey.publicKey)
      if signing.responder == nil {
        ToolFailure.write("app-store-emulator: note: \(EmulatedResponder.absence)\n", to: 2)
      }
      let production = store(.production, signing, developerKey.publicKey)
      ToolFailure.write(files.readyLine(ports: ports.map { ($0.name, $0.listener.port) }), to: 1)
      await withTaskGroup(of: Void.self) { group in
        for port in ports {
          let store = port.isProduction ? production : sandbox
          let control = EmulatorControl(store, shutdown: { end.fire() })
          group.addTask { try? await port.listener.serve(store, control) }
        }
        group.addTask { await end.wait() }
        // Serving never ends by itself, so the first task to end is the signal.
        await group.next()
        group.cancelAll()
      }
    }

    private struct Port {
      let name: String
      let listener: Listener
      var isProduction: Bool { name.hasPrefix("production") }
    }

    private func openPorts(_ certificates: ServerCertificates) async throws -> [Port] {
      do {
        var ports = [
          Port(name: "port", listener: try await .open(port: options.port, tls: nil)),
          Port(name: "productionPort", listener: try await .open(port: 0, tls: nil)),
        ]
        let secured: [(String, ServerCertificates.Kind)] = [
          ("tlsPort", .trusted), ("productionTLSPort", .trusted), ("untrustedTLSPort", .untrusted),
          ("wrongHostTLSPort", .wrongHost), ("expiredTLSPort", .expired),
        ]
        for (name, kind) in secured {
          let context = try Self.context(certificates, kind)
          ports.append(Port(name: name, listener: try await .open(port: 0, tls: context)))
        }
        return ports
      } catch {
        throw ToolFailure.exit(ToolFailure.unavailable, "no port could be opened: \(error)")
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

    private func signing(ocspPort: Int) throws -> EmulatorSigning {
      do throws(SigningError) {
        let receipts =
          if options.receiptAuthority == "test" { try TestAuthority.rsa().identity } else {
            try IdentityDirectory(options.receiptAuthority).load()
          }
        guard options.authority != "test" else {
          return try EmulatorSigning(
            serverURL: "http://127.0.0.1:\(ocspPort)", appReceipts: receipts)
        }
        return try EmulatorSigning(jws: IdentityDirectory(options.authority).load(), appReceipts: receipts)
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
