# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = "receiptkit"
  spec.version = "0.1.0"
  spec.summary = "Verifies, inspects and signs purchase receipts with libreceiptkit, in the process."
  spec.authors = ["The ReceiptKit authors"]
  spec.homepage = "https://receiptkit.dev"
  spec.license = "Apache-2.0"
  spec.required_ruby_version = ">= 3.1"
  spec.files = Dir["lib/**/*.rb", "README.md"]
  spec.add_dependency "fiddle", "~> 1.1"
  spec.add_dependency "json", "~> 2.6"
end
