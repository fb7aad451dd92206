// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"bytes"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/types"
)

// uid is that of a Pod, as API servers give it: a UUID. Zero: it is none.
type uid [16]byte

// groups are where the hexadecimal digits of a UUID stand in its text.
var groups = [...][2]int{{0, 8}, {9, 13}, {14, 18}, {19, 23}, {24, 36}}

func uidOf(text types.UID) (id uid) {
	if len(text) != groups[len(groups)-1][1] {
		return uid{}
	}
	at := 0
	for _, g := range groups {
		n, err := hex.Decode(id[at:], []byte(text[g[0]:g[1]]))
		if err != nil {
			return uid{}
		}
		at += n
	}
	if id.text() != text { // upper case, or no hyphens between
		return uid{}
	}
	return id
}

func (id uid) text() types.UID {
	if id == (uid{}) {
		return ""
	}
	text, at := bytes.Repeat([]byte("-"), groups[len(groups)-1][1]), 0
	for _, g := range groups {
		n := (g[1] - g[0]) / 2
		hex.Encode(text[g[0]:g[1]], id[at:at+n])
		at += n
	}
	return types.UID(text)
}
