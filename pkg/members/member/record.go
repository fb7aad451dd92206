// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// records say who is established as each cluster: the registration that was
// Ready under the uid first. It keeps the uid for as long as it exists and is not Ready as
// another cluster, whether or not the cluster answers. No two are of one registration.
type records map[types.UID]holder

// holder is who is established as one cluster.
type holder struct {
	// Registration is the key as [keyText] has it.
	Registration string `json:"registration"`
	// Name is the cluster's.
	Name string `json:"name"`
	proof
}

// lose is true when one that is established by these is not, or not under its name, by the later ones.
func (r records) lose(later records) bool {
	if len(r) == 0 {
		return false
	}
	after := later.byRegistration()
	for _, one := range r {
		if after[one.Registration].Name != one.Name {
			return true
		}
	}
	return false
}

// proof is what a cluster showed beside its uid, which anyone could tell.
type proof struct {
	// Authority is a hash of the public key of the certificate authority that the registration gives and that verified the server;
	// empty where that proves nothing.
	Authority string `json:"authority,omitempty"`
	// Way is a hash of where the registration leads to; empty where that proves nothing.
	Way string `json:"way,omitempty"`
}

// keyText is a key as records have it: the source's name and the object's.
func keyText(k registration.Key) string { return k.Source + "/" + k.Object }

// byRegistration returns the records by whom they are of.
func (r records) byRegistration() map[string]holder {
	all := make(map[string]holder, len(r))
	for _, one := range r {
		all[one.Registration] = one
	}
	return all
}

// under returns these with those of the others that neither their clusters nor their registrations are in.
func (r records) under(others records) records {
	all := maps.Clone(others)
	taken := others.byRegistration()
	for uid, one := range r {
		_, known := all[uid]
		if _, elsewhere := taken[one.Registration]; !known && !elsewhere {
			all[uid] = one
		}
	}
	return all
}

const (
	// mostRecords and mostRecordBytes keep all records within what one ConfigMap may hold.
	mostRecords     = 4000
	mostRecordBytes = 1 << 20 * 9 / 10
	// mostRecord bounds one, which has a name, the name of an object and two hashes.
	mostRecord = 640
	// mostUID bounds what a cluster may tell: Kubernetes' own uids have 36 characters.
	mostUID = 64
)

// isUID is true for what can be the uid of a cluster, and a key of the record.
func isUID(uid types.UID) bool {
	return uid != "" && len(uid) <= mostUID && len(validation.IsConfigMapKey(string(uid))) == 0
}

// encode returns the records as they are stored, each under its cluster's uid. If they are too many, those that are stored
// already go first.
func (r records) encode(stored map[string]string) map[string]string {
	uids := slices.SortedFunc(maps.Keys(r), func(a, b types.UID) int {
		_, hasA := stored[string(a)]
		_, hasB := stored[string(b)]
		return cmp.Or(cmp.Compare(number(hasB), number(hasA)), cmp.Compare(a, b))
	})
	data, bytes := make(map[string]string, len(r)), 0
	for _, uid := range uids {
		text, err := json.Marshal(r[uid])
		size := len(uid) + len(text)
		if err != nil || !isUID(uid) || len(text) > mostRecord || len(data) == mostRecords || bytes+size > mostRecordBytes {
			continue
		}
		data[string(uid)] = string(text)
		bytes += size
	}
	return data
}

// decode reads what encode wrote. What cannot be read is left out, and so are all but one of a registration.
func decode(data map[string]string) records {
	all := make(records, min(len(data), mostRecords))
	taken := make(map[string]bool, len(all))
	for _, uid := range slices.Sorted(maps.Keys(data)) {
		var one holder
		text := data[uid]
		if len(all) == mostRecords || len(text) > mostRecord || !isUID(types.UID(uid)) || json.Unmarshal([]byte(text), &one) != nil ||
			one.Registration == "" || taken[one.Registration] {
			continue
		}
		all[types.UID(uid)], taken[one.Registration] = one, true
	}
	return all
}
