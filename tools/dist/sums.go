// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// sumsFile is the last one of a release that is written, and holds the sums of all others.
const sumsFile = "SHA256SUMS"

// sum is the SHA-256 of a file, in hexadecimal.
type sum struct{ name, hash string }

// sumsOf are those of all files of a folder, by name.
func sumsOf(folder string) ([]sum, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []sum
	for _, e := range entries {
		hash, err := hashOf(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, sum{e.Name(), hash})
	}
	return all, nil
}

func hashOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}

// sumsText is what sha256sum --check reads.
func sumsText(all []sum) []byte {
	var text strings.Builder
	for _, s := range all {
		fmt.Fprintf(&text, "%s  %s\n", s.hash, s.name)
	}
	return []byte(text.String())
}
