// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestListed(t *testing.T) {
	for object, want := range map[string]string{
		"fleet/east":                       "clusterprofile.fleet.east",
		"fleet/" + strings.Repeat("a", 42): "clusterprofile.fleet." + strings.Repeat("a", 42),
		"fleet/" + strings.Repeat("a", 43): "clusterprofile.fleet." + strings.Repeat("a", 29) + "-ee93dec59762",
	} {
		if got := (Key{Source: ClusterProfileSource, Object: object}).Listed(); got != want {
			t.Errorf("%s is listed as %s, want %s", object, got, want)
		}
	}
}

// FuzzListed holds for all names that objects may have: each is listed by a name of its own, that fits a status and no cluster can have.
func FuzzListed(f *testing.F) {
	long := strings.Repeat("a", 63)
	f.Add("fleet/east", "fleet/west")
	f.Add(long+"/"+long, long+"/"+long+"b")
	f.Add("fleet/"+strings.Repeat("a.", 60)+"a", "fleet/"+strings.Repeat("a.", 60)+"b")
	f.Add("fleet/"+strings.Repeat("a", 28)+strings.Repeat("-", 40)+"a", "fleet/"+strings.Repeat("a", 28)+strings.Repeat("-", 40)+"b")
	f.Fuzz(func(t *testing.T, a, b string) {
		listed := map[string]string{}
		for _, object := range []string{a, b} {
			namespace, name, _ := strings.Cut(object, "/")
			if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
				return
			}
			got := Key{Source: ClusterProfileSource, Object: object}.Listed()
			if len(got) > 63 || len(validation.IsDNS1123Subdomain(got)) > 0 || !strings.Contains(got, ".") {
				t.Fatalf("%s is listed as %q", object, got)
			}
			if other, taken := listed[got]; taken && other != object {
				t.Fatalf("%s and %s are both listed as %q", object, other, got)
			}
			listed[got] = object
		}
	})
}
