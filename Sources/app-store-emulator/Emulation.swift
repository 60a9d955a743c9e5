// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  import AppStoreEmulator
  import ArgumentParser
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
        try ServerCertificates(
          now: Int64(SystemClock.now().millisecondsSince1970 / 1000), host: options.serving.reachableHost)
      }
      // Do everything that can fail before opening the ports. The roots do not depend on the port.
      let files = StateDirectory(path: options.state)
      try files.write(
        signing: try signing(ocspPort: 0), tlsAuthority: certificates.authority, developerKey: developerKey,
        options: options)
      defer { if options.removeState { files.remove() } }

      // Certificates contain the port of their OCSP responder.
      let ports = try await ServedPort.open(options.serving, certificates)
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
          group.addTask { [serving = options.serving] in
            try? await port.listener.serve(store, control, serving)
          }
        }
        group.addTask { await end.wait() }
        // Serving never ends by itself, so the first task to end is the signal.
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

    private func signing(ocspPort: Int) throws -> EmulatorSigning {
      do throws(SigningError) {
        let receipts =
          if options.receiptAuthority == "test" { try TestAuthority.rsa().identity } else {
            try IdentityDirectory(options.receiptAuthority).load()
          }
        guard options.authority != "test" else {
          return try EmulatorSigning(
            serverURL: options.serving.url(port: ocspPort), appReceipts: receipts)
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

    private func prepared<Value>(_ make: () throws(CryptoError) -> Value) throws -> Value {
      do throws(CryptoError) {
        return try make()
      } catch {
        throw ToolFailure.exit(ToolFailure.unavailable, "the TLS certificates could not be made: \(error)")
      }
    }
  }
#endif
