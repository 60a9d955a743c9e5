# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

require "minitest/autorun"
require "openssl"
require "socket"
require "timeout"
require_relative "../lib/receiptkit"

# The tests of the binding.
class TestReceiptKit < Minitest::Test
  VECTORS = File.expand_path("../../../TestVectors", __dir__)

  # Accepts the vectors, at an instant at which their subscription is active.
  def policy
    {
      bundleIds: ["com.example.app"], environments: %w[production sandbox], time: "2025-10-15T00:00:00Z",
      trust: [File.read("#{VECTORS}/certificates/es256-root.pem")]
    }
  end

  def verifier = ReceiptKit::Verifier.new(policy)
  def valid = File.binread("#{VECTORS}/signed-transaction/valid.jws")
  def undetermined = File.binread("#{VECTORS}/google-play-purchase/key-missing.json")
  def resident = File.read("/proc/self/statm").split[1].to_i * 4096

  def test_a_valid_receipt
    verdict = verifier.verify(valid)
    assert verdict.valid? && verdict.grants_access? && verdict.standing == "active" && verdict.reason.nil?, verdict.json
    assert_equal "2000000001", verdict.transactions[0]["transactionId"]
    assert_equal "ES256", verdict[:signer]["algorithm"]
    assert_equal JSON.parse(verdict.json), JSON.parse(JSON.generate(verdict))
    assert_raises(FrozenError) { verdict.to_h["verdict"] = "valid" }
    assert_raises(FrozenError) { verdict.transactions[0]["productId"] << "x" }
  end

  def test_what_is_not_valid_grants_nothing
    shared = verifier
    ["", "\0", "\xff\xfe", "é".encode("UTF-16"), "\0" * (17 << 20), "#{valid}A"].each do |receipt|
      verdict = shared.verify(receipt)
      assert verdict.invalid? && !verdict.valid? && !verdict.grants_access? && verdict.reason.code, verdict.json
    end
    verdict = shared.verify(undetermined)
    assert verdict.undetermined? && !verdict.valid? && !verdict.grants_access?, verdict.json
  end

  def test_a_verdict_contradicts_no_status
    [[0, '{"verdict":"invalid"}'], [1, '{"verdict":"valid"}'], [3, '{"verdict":"valid"}'], [3, "{}"], [0, "{}"], [0, "[]"], [0, "7"], [0, ""]].each do |wrong|
      assert_raises(ReceiptKit::Error) { ReceiptKit::Verdict.new(*wrong) }
    end
  end

  def test_many_receipts
    verdicts = verifier.verify_many([valid, "", "x", valid, "\xff"])
    assert_equal [true, false, false, true, false], verdicts.map(&:valid?)
    assert_equal [], verifier.verify_many([])
    assert_raises(TypeError) { verifier.verify_many([valid, nil]) }
    # Of different encodings.
    assert_equal [false] * 2, verifier.verify_many(["é", "\xe9".dup.force_encoding("ISO-8859-1")]).map(&:valid?)
  end

  def test_the_payload
    assert_equal "2000000001", JSON.parse(verifier.payload(valid))["transactionId"]
    error = assert_raises(ReceiptKit::NotValidError) { verifier.payload("x") }
    assert error.verdict.invalid? && error.status == 1
    assert_equal 2, assert_raises(ReceiptKit::NotValidError) { verifier.payload(undetermined) }.status
  end

  def test_a_wrong_policy
    {
      "unexpected" => policy.merge(bundleIDs: []), "truncated" => "{", "malformed-certificate" => { bundleIds: ["a"], trust: ["x"] },
      "usage" => { bundleIds: ["\xff"] }
    }.each do |code, wrong|
      error = assert_raises(ReceiptKit::Error) { ReceiptKit::Verifier.new(wrong) }
      assert error.code == code && error.status >= 64, error.inspect
    end
    assert_equal "$.x", assert_raises(ReceiptKit::Error) { ReceiptKit::Verifier.new(policy.merge(x: 1)) }.place
    ["", "null", "\xff", {}, "{\"bundleIds\":[\"\xff\"]}"].each do |wrong|
      assert_raises(ReceiptKit::Error) { ReceiptKit::Verifier.new(wrong) }
    end
  end

  def test_wrong_types
    shared = verifier
    [nil, 7, [], Object.new, :receipt].each do |wrong|
      assert_raises(TypeError) { shared.verify(wrong) }
      assert_raises(TypeError) { shared.payload(wrong) }
      assert_raises(TypeError) { ReceiptKit.inspect_unverified(wrong) }
      assert_raises(TypeError) { ReceiptKit::Verifier.new(wrong) }
    end
  end

  def test_a_closed_verifier
    shared = verifier
    shared.close
    shared.close
    assert_raises(ReceiptKit::ClosedError) { shared.verify(valid) }
    assert_raises(ReceiptKit::ClosedError) { shared.verify_many([]) }
    assert_raises(ReceiptKit::ClosedError) { shared.payload(valid) }
    [:dup, :clone].each { |copy| assert_raises(TypeError) { verifier.public_send(copy) } }
    assert_raises(TypeError) { Marshal.dump(verifier) }
  end

  def test_threads_that_collect_garbage
    # Read before: Ruby 3.1 itself crashes if one thread reads a file while another moves objects.
    receipt, text_of_policy = valid, JSON.generate(policy)
    threads = Array.new(8) do
      Thread.new do
        50.times do |count|
          text = +"" << receipt
          other = Thread.new { text.replace("x" * 10_000) }
          verifier = ReceiptKit::Verifier.new(text_of_policy)
          assert %w[valid invalid].include?(verifier.verify(text).verdict)
          other.join
          assert verifier.verify(receipt.dup).valid?
          GC.start if (count % 10).zero?
          GC.compact if count == 25 && GC.respond_to?(:compact)
        end
      end
    end
    threads.each(&:join)
  end

  def test_closing_while_others_verify
    shared, receipt = verifier, valid
    threads = Array.new(8) do |number|
      Thread.new do
        count = 0
        loop do
          assert shared.verify(receipt).valid?
          shared.close if number.zero? && (count += 1) == 20
        end
      rescue ReceiptKit::ClosedError
        true
      end
    end
    assert threads.all?(&:value)
  end

  # While a thread is in the library, others run.
  def test_the_lock_of_the_interpreter_is_free_meanwhile
    shared, count = verifier, 0
    receipts = [valid] * 4000
    other = Thread.new { shared.verify_many(receipts) }
    while other.alive?
      count += 1
      sleep 0.001
    end
    assert count > 20, count
    assert_equal 4000, other.value.count(&:valid?)
  end

  def test_a_timeout_leaves_everything_as_it_was
    shared, receipt = verifier, valid
    500.times do
      give_up = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
      assert_raises(Timeout::Error) do
        Timeout.timeout(0.002) { shared.verify(receipt) while Process.clock_gettime(Process::CLOCK_MONOTONIC) < give_up }
      end
    end
    assert shared.verify(receipt).valid?
  end

  def test_nothing_is_kept_of_a_call
    receipt = valid
    # What is in it is as long.
    large = JSON.generate({ data: JSON.generate({ packageName: "x" * 1_000_000 }), signature: "AAAA" })
    run = lambda do
      100.times do
        verifier.verify(receipt)
        ReceiptKit.inspect_unverified(large)
        assert_raises(ReceiptKit::Error) { ReceiptKit::Verifier.new("{") }
      end
      GC.start
    end
    2.times { run.call }
    before = resident
    run.call
    assert resident - before < 48 << 20, resident - before
  end

  # As Puma does it: what was created before the fork works in the workers.
  def test_children_of_a_fork_while_threads_verify
    shared, receipt, goes_on = verifier, valid, true
    threads = Array.new(3) { Thread.new { shared.verify_many([receipt] * 100) while goes_on } }
    children = Array.new(4) do
      fork do
        Process.exit!(shared.verify(receipt).valid? && shared.verify_many([receipt, "x"]).size == 2 && shared.close.nil? ? 7 : 1)
      end
    end
    statuses = children.map { |child| Process.wait2(child)[1].exitstatus }
    goes_on = false
    threads.each(&:join)
    assert_equal [7] * 4, statuses
    assert shared.verify(receipt).valid?
  end

  def test_an_inspection
    content = ReceiptKit.inspect_unverified(valid)
    assert content["verified"] == false && JSON.generate(content).include?("7e3fb204")
    refute_includes JSON.generate(ReceiptKit.inspect_unverified(valid, redact: true)), "7e3fb204"
    assert_equal 1, assert_raises(ReceiptKit::Error) { ReceiptKit.inspect_unverified("") }.status
  end

  def test_openssl_signs_before_and_after
    2.times do
      key = OpenSSL::PKey::RSA.new(2048)
      assert key.verify("SHA256", key.sign("SHA256", "x"), "x")
      signer = ReceiptKit::Signer.new(privateKey: key.to_pem)
      signed = signer.sign(
        "google-play-purchase",
        { orderId: "GPA.1", packageName: "com.example.app", productId: "gems", purchaseTime: 1_759_302_550_000, purchaseState: 0, purchaseToken: "t" }
      )
      keys = [{ package: "com.example.app", key: key.public_to_pem }]
      checker = ReceiptKit::Verifier.new(bundleIds: ["com.example.app"], unstatedEnvironment: "accept", playKeys: keys)
      verdict = checker.verify(signed.receipt)
      assert verdict.valid? && verdict.transactions[0]["productId"] == "gems", verdict.json
      assert_equal "$.format", assert_raises(ReceiptKit::Error) { signer.sign("nonsense", {}) }.place
      assert_equal "$.receipt", assert_raises(ReceiptKit::Error) { signer.sign("google-play-purchase", "{}, 1") }.place
      refute_includes signer.inspect, "PRIVATE"
    end
  end

  def test_tls_before_and_after
    key = OpenSSL::PKey::EC.generate("prime256v1")
    certificate = OpenSSL::X509::Certificate.new
    certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse("/CN=localhost")
    certificate.serial, certificate.version, certificate.public_key = 1, 2, key
    certificate.not_before, certificate.not_after = Time.now - 60, Time.now + 3600
    certificate.sign(key, "SHA256")
    2.times do
      context = OpenSSL::SSL::SSLContext.new
      context.add_certificate(certificate, key)
      server = OpenSSL::SSL::SSLServer.new(TCPServer.new("127.0.0.1", 0), context)
      Thread.new { server.accept.tap { |connection| connection.puts("ok") }.close }
      store = OpenSSL::X509::Store.new.tap { |roots| roots.add_cert(certificate) }
      client_context = OpenSSL::SSL::SSLContext.new.tap { |each| each.set_params(cert_store: store, verify_hostname: false) }
      client = OpenSSL::SSL::SSLSocket.new(TCPSocket.new("127.0.0.1", server.to_io.addr[1]), client_context).connect
      assert_equal "ok\n", client.gets
      client.close
      server.close
      assert verifier.verify(valid).valid?
    end
  end

  # A proof and its key are given by Tests/Interoperability.
  def test_proofs
    key = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    check = ReceiptKit.check_proof("no proof", key: key)
    assert !check.proven? && check.message
    [{}, { key: "x" }, { policy: "x" }, { key: key, policy: "x" }].each do |wrong|
      assert_raises(ReceiptKit::Error) { ReceiptKit.check_proof("", **wrong) }
    end
    skip "RECEIPTKIT_TEST_PROOF is not set" unless ENV["RECEIPTKIT_TEST_PROOF"]
    proof, key = File.binread(ENV["RECEIPTKIT_TEST_PROOF"]), File.read(ENV["RECEIPTKIT_TEST_PROOF_KEY"]).strip
    assert ReceiptKit.check_proof(proof, key: key).proven?
    refute ReceiptKit.check_proof(proof, key: key, receipt: "another").proven?
  end

  def test_the_version
    assert_kind_of String, ReceiptKit.version["libcrypto"]
  end

  def test_a_library_that_is_none
    ["/nowhere/libreceiptkit.so", __FILE__, "libm.so.6"].each do |path|
      assert_raises(ReceiptKit::Error) { ReceiptKit.load(path) }
    end
    assert verifier.verify(valid).valid?
  end
end
