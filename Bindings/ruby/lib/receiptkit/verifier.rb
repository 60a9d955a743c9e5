# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module ReceiptKit
  # Verifies receipts by a policy. Keep it: it remembers the signers of receipts that it accepted.
  class Verifier < Handle
    # A policy is a hash or its JSON, at least `{ bundleIds: ["com.example.app"] }`.
    def initialize(policy) = super(:verifier_create, policy)

    # Verifies a receipt of any kind. The verdict may be invalid or undetermined: ask `valid?`.
    def verify(receipt)
      status, text = ask(:verify, receipt)
      Verdict.new(status, text)
    end

    # Verifies receipts on all processors. The verdicts have the order of the receipts.
    def verify_many(receipts)
      receipts = receipts.map { |receipt| Library.bytes(receipt, "receipt") }
      @library.verify_batch(handle, receipts).map { |status, text| Verdict.new(status, text) }
    rescue Error => error
      raise closed? && error.status == Library::USAGE ? ClosedError.new : error
    end

    # Verifies a receipt and returns its payload, as the store signed it. Raises NotValidError if the receipt is not valid.
    def payload(receipt)
      status, text = ask(:payload, receipt)
      raise NotValidError.new(Verdict.new(status, text), status) unless status == Library::VALID

      text
    end

    private

    def ask(function, receipt)
      receipt = Library.bytes(receipt, "receipt")
      status, text = @library.call(function, handle, receipt, receipt.bytesize)
      raise failure(status, text) if status >= Library::USAGE

      [status, text]
    end
  end
end
