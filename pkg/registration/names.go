// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Key names a registration among all of the hub.
type Key struct {
	// Rank is the place of the source among [Sources], and Source its name.
	Rank   int
	Source string
	// Object is the object's name, with its namespace and a slash before it where that is not the same for all.
	Object string
}

// Compare gives the order of precedence: that of the sources, then the lesser object.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Rank, other.Rank), strings.Compare(k.Object, other.Object))
}

// String returns the whole name of the registration: <source>.<object>.
func (k Key) String() string { return k.Source + "." + strings.ReplaceAll(k.Object, "/", ".") }

const (
	// longestName bounds the names of clusters, in characters: statuses that hold longer ones are refused.
	longestName = 63
	// hashLength are the hexadecimal digits at the end of a name that was cut.
	hashLength = 12
)

// Listed returns what the registration is listed as when it has no unique name. It has a dot, so that no cluster is called that, and
// is a DNS subdomain if the parts are. One that is too long is cut, and ends with a hash of the whole.
func (k Key) Listed() string {
	whole := k.String()
	if len(whole) <= longestName {
		return whole
	}
	hash := sha256.Sum256([]byte(whole))
	return strings.TrimRight(whole[:longestName-hashLength-1], "-.") + "-" + hex.EncodeToString(hash[:])[:hashLength]
}

// Names gives each registration the name that it is listed under. A name stays
// with the registration that keeps it. Any other goes to the first that asks for
// it. One that goes away empty-handed is listed as [Key.Listed] has it. Neither
// reachability nor faults have a say, so that a name never comes to mean another
// cluster because one is down or mistyped.
func Names(registrations map[Key]Registration, keeps map[Key]bool) map[Key]string {
	names := make(map[Key]string, len(registrations))
	taken := make(map[string]bool, len(registrations))
	keys := slices.SortedFunc(maps.Keys(registrations), Key.Compare)
	for _, keepers := range []bool{true, false} {
		for _, k := range keys {
			switch r := registrations[k]; {
			case keeps[k] != keepers: // it is another's turn
			case taken[r.Name] || r.has(reasonInvalidName):
				names[k] = k.Listed()
			default:
				names[k], taken[r.Name] = r.Name, true
			}
		}
	}
	return names
}

// checkName accepts what can be a label value, a DNS name's part and a metric's
// label alike.
func checkName(name, fix string) []Fault {
	return checkNameOf(strconv.Quote(shorten(name)), name, fix)
}

// checkNameOf says in place of the name where it stands.
func checkNameOf(where, name, fix string) []Fault {
	if len(validation.IsDNS1123Label(name)) == 0 {
		return nil
	}
	return []Fault{faultf(reasonInvalidName,
		"%s cannot name a cluster: a name has at most %d characters, lower-case letters, digits and '-', and no dots; %s",
		where, validation.DNS1123LabelMaxLength, fix)}
}
