// SPDX-License-Identifier: Apache-2.0

// Parity prints the verdicts on receipts that it reads, for comparison with those of receipt-tool.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"receiptkit.dev/go/receiptkit"
)

type summary struct {
	Verdict      string    `json:"verdict"`
	Code         *string   `json:"code"`
	Place        *string   `json:"place"`
	Transactions []*string `json:"transactions"`
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func summarize(verdict *receiptkit.Verdict) string {
	found := summary{Verdict: verdict.Verdict, Transactions: []*string{}}
	if reason := verdict.Reason; reason != nil {
		found.Code, found.Place = optional(reason.Code), optional(reason.Place)
	}
	for _, purchase := range verdict.Transactions {
		found.Transactions = append(found.Transactions, optional(purchase.TransactionID))
	}
	line, err := json.Marshal(found)
	if err != nil {
		panic(err)
	}
	return string(line)
}

func run(input io.Reader, output io.Writer) error {
	decoder := json.NewDecoder(input)
	for {
		var group struct {
			Policy   json.RawMessage
			Receipts [][]byte
		}
		if err := decoder.Decode(&group); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		verifier, err := receiptkit.NewVerifier(group.Policy)
		if err != nil {
			return err
		}
		together, err := verifier.VerifyMany(group.Receipts)
		if err != nil {
			return err
		}
		for index, receipt := range group.Receipts {
			alone, err := verifier.Verify(receipt)
			if err != nil {
				return err
			}
			line := summarize(alone)
			if other := summarize(together[index]); alone.IsValid() != together[index].IsValid() || line != other {
				return fmt.Errorf("verify says %s, and verifyMany %s", line, other)
			}
			fmt.Fprintln(output, line)
		}
		verifier.Close()
	}
}

func main() {
	output := bufio.NewWriter(os.Stdout)
	err := run(bufio.NewReader(os.Stdin), output)
	output.Flush()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
