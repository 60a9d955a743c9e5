# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

# Prints the verdicts on receipts that it reads, for comparison with those of receipt-tool.
require_relative "lib/receiptkit"

def summary(verdict)
  transactions = verdict.transactions.map { |purchase| purchase["transactionId"] }
  JSON.generate({ verdict: verdict.verdict, code: verdict.reason&.code, place: verdict.reason&.place, transactions: transactions })
end

$stdin.each_line do |line|
  group = JSON.parse(line)
  verifier = ReceiptKit::Verifier.new(group["policy"])
  receipts = group["receipts"].map { |receipt| receipt.unpack1("m0") }
  alone = receipts.map { |receipt| summary(verifier.verify(receipt)) }
  together = verifier.verify_many(receipts).map { |verdict| summary(verdict) }
  abort "verify says #{alone}, and verify_many #{together}" if alone != together
  puts alone
  verifier.close
end
