// SPDX-License-Identifier: Apache-2.0

// A harness of the conformance suite for Go's packages of signed notes and transparency logs,
// golang.org/x/mod/sumdb/note and golang.org/x/mod/sumdb/tlog.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type testCase struct {
	ID        string `json:"id"`
	Operation string `json:"operation"`
	Input     input  `json:"input"`
}

type input struct {
	Note       string          `json:"note"`
	NoteBase64 string          `json:"noteBase64"`
	Keys       []string        `json:"keys"`
	Record     *string         `json:"record"`
	LeafHash   string          `json:"leafHash"`
	Index      json.RawMessage `json:"index"`
	Size       json.RawMessage `json:"size"`
	RootHash   string          `json:"rootHash"`
	FirstSize  json.RawMessage `json:"firstSize"`
	FirstRoot  string          `json:"firstRoot"`
	SecondSize json.RawMessage `json:"secondSize"`
	SecondRoot string          `json:"secondRoot"`
	Proof      []string        `json:"proof"`
}

type answer struct {
	ID      string      `json:"id"`
	Verdict string      `json:"verdict"`
	Reason  string      `json:"reason,omitempty"`
	Values  interface{} `json:"values,omitempty"`
	Context string      `json:"context,omitempty"`
}

// Set when it is built, since a build without modules does not know the versions of its packages.
var version = "unknown"

// refusal is an error with the reason of the suite for it.
type refusal struct {
	verdict, reason string
	cause           error
}

func (r *refusal) Error() string { return r.cause.Error() }

func refused(reason string, cause error) error { return &refusal{"invalid", reason, cause} }

func main() {
	fmt.Println(`{"harness": "golang.org/x/mod/sumdb", "version": "` + version + `", "features": ["note", "inclusion", ` +
		`"consistency"], "reports": ["text", "signers"], "reasons": false, "places": false}`)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<28)
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	for lines.Scan() {
		var each testCase
		if err := json.Unmarshal(lines.Bytes(), &each); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := output.Encode(result(each)); err != nil {
			os.Exit(1)
		}
	}
	if lines.Err() != nil {
		fmt.Fprintln(os.Stderr, lines.Err())
		os.Exit(1)
	}
}

func result(each testCase) answer {
	values, err := check(each)
	if err == nil {
		return answer{ID: each.ID, Verdict: "valid", Values: values}
	}
	var known *refusal
	if errors.As(err, &known) {
		return answer{ID: each.ID, Verdict: known.verdict, Reason: known.reason, Context: known.Error()}
	}
	return answer{ID: each.ID, Verdict: "invalid", Context: err.Error()}
}

func check(each testCase) (interface{}, error) {
	switch each.Operation {
	case "note":
		return checkNote(each.Input)
	case "inclusion":
		return nil, checkInclusion(each.Input)
	case "consistency":
		return nil, checkConsistency(each.Input)
	}
	return nil, &refusal{"undetermined", "unsupported", fmt.Errorf("no operation of this harness: %s", each.Operation)}
}

func checkNote(in input) (interface{}, error) {
	message := []byte(in.Note)
	if in.NoteBase64 != "" {
		decoded, err := base64.StdEncoding.DecodeString(in.NoteBase64)
		if err != nil {
			return nil, err
		}
		message = decoded
	}
	var verifiers []note.Verifier
	for _, text := range in.Keys {
		verifier, err := note.NewVerifier(text)
		if err != nil {
			return nil, &refusal{"undetermined", "key-unusable", err}
		}
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open(message, note.VerifierList(verifiers...))
	var unverified *note.UnverifiedNoteError
	var wrong *note.InvalidSignatureError
	switch {
	case errors.As(err, &unverified):
		return nil, &refusal{"undetermined", "key-missing", err}
	case errors.As(err, &wrong):
		return nil, refused("signature-mismatch", err)
	case err != nil:
		return nil, refused("malformed", err)
	}
	signers := []string{}
	for _, signature := range opened.Sigs {
		signers = append(signers, signature.Name)
	}
	return map[string]interface{}{"text": opened.Text, "signers": signers}, nil
}

// number reads a size, which is a JSON number, or a text if it is great. The packages have sizes of 63 bits.
func number(raw json.RawMessage) (int64, error) {
	text := strings.Trim(string(raw), `"`)
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, refused("malformed", err)
	}
	if value > math.MaxInt64 {
		return 0, refused("wrong-index", errors.New("beyond 2^63 - 1"))
	}
	return int64(value), nil
}

func hash(text string) (tlog.Hash, error) {
	hash, err := tlog.ParseHash(text)
	if err != nil {
		return hash, refused("malformed", err)
	}
	return hash, nil
}

func hashes(texts []string) ([]tlog.Hash, error) {
	var all []tlog.Hash
	for _, text := range texts {
		each, err := hash(text)
		if err != nil {
			return nil, err
		}
		all = append(all, each)
	}
	return all, nil
}

func checkInclusion(in input) error {
	index, err := number(in.Index)
	if err != nil {
		return err
	}
	size, err := number(in.Size)
	if err != nil {
		return err
	}
	root, err := hash(in.RootHash)
	if err != nil {
		return err
	}
	proof, err := hashes(in.Proof)
	if err != nil {
		return err
	}
	var leaf tlog.Hash
	if in.Record != nil {
		record, err := base64.StdEncoding.DecodeString(*in.Record)
		if err != nil {
			return err
		}
		leaf = tlog.RecordHash(record)
	} else if leaf, err = hash(in.LeafHash); err != nil {
		return err
	}
	if err := tlog.CheckRecord(proof, size, root, index, leaf); err != nil {
		if index >= size {
			return refused("wrong-index", err)
		}
		return err
	}
	return nil
}

func checkConsistency(in input) error {
	first, err := number(in.FirstSize)
	if err != nil {
		return err
	}
	second, err := number(in.SecondSize)
	if err != nil {
		return err
	}
	firstRoot, err := hash(in.FirstRoot)
	if err != nil {
		return err
	}
	secondRoot, err := hash(in.SecondRoot)
	if err != nil {
		return err
	}
	proof, err := hashes(in.Proof)
	if err != nil {
		return err
	}
	if err := tlog.CheckTree(proof, second, secondRoot, first, firstRoot); err != nil {
		if first > second {
			return refused("wrong-size", err)
		}
		return err
	}
	return nil
}
