# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

require_relative "receiptkit/errors"
require_relative "receiptkit/library"
require_relative "receiptkit/verdict"
require_relative "receiptkit/verifier"
require_relative "receiptkit/signer"

# Verifies, inspects and signs purchase receipts with libreceiptkit. Everything may be called from any thread.
module ReceiptKit
  # The answer about a proof of an audit trail. In Ruby it is true in a condition whatever it says: ask `proven?`.
  class ProofCheck
    # The whole object `audit-check`.
    attr_reader :json

    def initialize(status, json)
      @json = json.freeze
      @members = Library.members(json)
      @proven = status == Library::VALID
      raise Library.internal("The answer about a proof contradicts the status #{status}.") if @members["proven"] != @proven

      freeze
    end

    def proven? = @proven
    # Why not.
    def message = @members["message"]
    def to_h = @members
  end

  # Loads the library from a path, in place of where it is looked for.
  def self.load(path)
    Library.load(path)
    nil
  end

  # The contents of a receipt, of which nothing is checked: the members of the object `inspection`. Grant nothing for it. With
  # `redact` a customer's values are replaced.
  def self.inspect_unverified(receipt, redact: false)
    receipt = Library.bytes(receipt, "receipt")
    Library.members(Library.get.text_of(:inspect, receipt, receipt.bytesize, redact ? Library::REDACTED : 0))
  end

  # Checks a proof (C2SP tlog-proof) with either the trail's public key or a witness policy. `replaced_keys` are the proofs by
  # which later keys replaced the key; `receipt` is the receipt that the entry must be about.
  def self.check_proof(proof, key: nil, policy: nil, replaced_keys: nil, receipt: nil)
    encoded = receipt && [Library.bytes(receipt, "receipt")].pack("m0")
    request = Library.document({ key: key, policy: policy, replacedKeys: replaced_keys, receipt: encoded }.compact)
    proof = Library.bytes(proof, "proof")
    status, text = Library.get.call(:check_proof, proof, proof.bytesize, request, request.bytesize)
    raise Library.error(status, text) unless [Library::VALID, Library::INVALID].include?(status)

    ProofCheck.new(status, text)
  end

  # The members of the object `version`.
  def self.version = Library.members(Library.get.text_of(:version))
end
