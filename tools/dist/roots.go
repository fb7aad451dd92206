// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/pem"
	"iter"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// rootsModule is where the authorities come from.
const rootsModule = "golang.org/x/crypto/x509roots/fallback"

// roots are authorities as PEM. Those that are trusted for old certificates only are left out: a file cannot say so.
func roots(all iter.Seq[bundle.Root]) []byte {
	var text bytes.Buffer
	for root := range all {
		if root.Constraint == nil {
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // to memory, which takes all
		}
	}
	return text.Bytes()
}
