// SPDX-License-Identifier: Apache-2.0

// Checks a folder of log files with Go's own packages for signed notes and transparency logs:
//
//	check FOLDER
//
// Every checkpoint must open by log.vkey; every tile and entry must hash to the root of the newest one; every
// .tlog-proof must prove its entry, and every witness request that the log grew. Prints what was checked.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

var folder = os.Args[1]

func check(err error, what string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

func require(condition bool, what string) {
	if !condition {
		check(fmt.Errorf("does not hold"), what)
	}
}

func read(name string) []byte {
	bytes, err := os.ReadFile(filepath.Join(folder, name))
	check(err, name)
	return bytes
}

// open verifies a checkpoint, and returns the tree that it states.
func open(bytes []byte, what string) tlog.Tree {
	verifier, err := note.NewVerifier(strings.TrimSpace(string(read("log.vkey"))))
	check(err, "log.vkey")
	opened, err := note.Open(bytes, note.VerifierList(verifier))
	check(err, what)
	lines := strings.Split(opened.Text, "\n")
	require(lines[0] == verifier.Name(), what+": origin")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err, what)
	root, err := tlog.ParseHash(lines[2])
	check(err, what)
	return tlog.Tree{N: size, Hash: root}
}

func hashes(lines []string, what string) []tlog.Hash {
	var hashes []tlog.Hash
	for _, line := range lines {
		hash, err := tlog.ParseHash(line)
		check(err, what)
		hashes = append(hashes, hash)
	}
	return hashes
}

// tiles reads tiles as C2SP names them: Go's package puts the height of a tile before its level.
type tiles struct{}

func (tiles) Height() int                                { return 8 }
func (tiles) SaveTiles(tiles []tlog.Tile, data [][]byte) {}
func (tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var data [][]byte
	for _, tile := range wanted {
		bytes, err := os.ReadFile(filepath.Join(folder, strings.Replace(tile.Path(), "tile/8/", "tile/", 1)))
		if err != nil {
			return nil, err
		}
		data = append(data, bytes)
	}
	return data, nil
}

// entries reads all bundles, in order.
func entries(size int64) [][]byte {
	var entries [][]byte
	for number := int64(0); number*256 < size; number++ {
		tile := tlog.Tile{H: 8, L: 0, N: number, W: 256}
		if size-number*256 < 256 {
			tile.W = int(size - number*256)
		}
		rest := read(strings.Replace(tile.Path(), "tile/8/0/", "tile/entries/", 1))
		for len(rest) > 0 {
			length := int(binary.BigEndian.Uint16(rest))
			entries = append(entries, rest[2:2+length])
			rest = rest[2+length:]
		}
	}
	return entries
}

func sameHashes(ours, theirs []tlog.Hash, what string) {
	require(len(ours) == len(theirs), what+": length")
	for i := range ours {
		require(ours[i] == theirs[i], what+": hash "+strconv.Itoa(i))
	}
}

func main() {
	newest := open(read("checkpoint"), "checkpoint")
	reader := tlog.TileHashReader(newest, tiles{})

	// The entries alone make the same root, and the tiles hold the same leaf hashes.
	all := entries(newest.N)
	require(int64(len(all)) == newest.N, "number of entries")
	var stored []tlog.Hash
	storedReader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var found []tlog.Hash
		for _, index := range indexes {
			found = append(found, stored[index])
		}
		return found, nil
	})
	for number, entry := range all {
		added, err := tlog.StoredHashes(int64(number), entry, storedReader)
		check(err, "entries")
		stored = append(stored, added...)
	}
	root, err := tlog.TreeHash(newest.N, storedReader)
	check(err, "root")
	require(root == newest.Hash, "root of the entries")
	for number := int64(0); number < newest.N; number += 97 {
		found, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, number)})
		check(err, "tiles")
		require(found[0] == tlog.RecordHash(all[number]), "leaf hash in its tile")
	}

	checkpoints, _ := filepath.Glob(filepath.Join(folder, "checkpoints", "*"))
	trees := map[string]tlog.Tree{"0": {N: 0}}
	for _, name := range checkpoints {
		base := filepath.Base(name)
		trees[base] = open(read("checkpoints/"+base), name)
		root, err := tlog.TreeHash(trees[base].N, reader)
		check(err, name)
		require(root == trees[base].Hash, name+": root from tiles")
	}

	proofs, _ := filepath.Glob(filepath.Join(folder, "proofs", "*.tlog-proof"))
	for _, name := range proofs {
		text := string(read("proofs/" + filepath.Base(name)))
		head, checkpoint, _ := strings.Cut(text, "\n\n")
		lines := strings.Split(head, "\n")
		require(lines[0] == "c2sp.org/tlog-proof@v1", name+": first line")
		index, err := strconv.ParseInt(strings.TrimPrefix(lines[1], "index "), 10, 64)
		check(err, name)
		tree := open([]byte(checkpoint), name)
		proof := hashes(lines[2:], name)
		check(tlog.CheckRecord(proof, tree.N, tree.Hash, index, tlog.RecordHash(all[index])), name)
		theirs, err := tlog.ProveRecord(tree.N, index, reader)
		check(err, name)
		sameHashes(proof, theirs, name)
	}

	requests, _ := filepath.Glob(filepath.Join(folder, "requests", "*"))
	for _, name := range requests {
		text := string(read("requests/" + filepath.Base(name)))
		head, checkpoint, _ := strings.Cut(text, "\n\n")
		lines := strings.Split(head, "\n")
		old, known := trees[strings.TrimPrefix(lines[0], "old ")]
		require(known, name+": old size")
		tree := open([]byte(checkpoint), name)
		proof := hashes(lines[1:], name)
		if old.N == 0 {
			require(len(proof) == 0, name+": proof from nothing")
			continue
		}
		check(tlog.CheckTree(proof, tree.N, tree.Hash, old.N, old.Hash), name)
		theirs, err := tlog.ProveTree(tree.N, old.N, reader)
		check(err, name)
		sameHashes(proof, theirs, name)
	}
	fmt.Printf("entries %d checkpoints %d proofs %d requests %d\n",
		len(all), len(checkpoints), len(proofs), len(requests))
}
