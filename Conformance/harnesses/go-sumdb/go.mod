module github.com/receiptkit/receiptkit/Conformance/harnesses/go-sumdb

go 1.19

require golang.org/x/mod v0.7.0
