// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What each rights apply, in order, as golden files:
//
//	manifests [read-only] [sizes] [namespaces=(a,b)] [create=(a,b)]
//	granted
func TestManifests(t *testing.T) {
	datadriven.RunTest(t, "testdata/manifests.txt", func(t *testing.T, d *datadriven.TestData) string {
		var r Rights
		for _, arg := range d.CmdArgs {
			switch arg.Key {
			case "read-only":
				r.ReadOnly = true
			case "sizes":
				r.Sizes = true
			case "namespaces":
				r.Namespaces = arg.Vals
			case "create":
				r.CreateIn = arg.Vals
			}
		}
		list := r.Manifests
		if d.Cmd == "granted" {
			list = granted
		}
		objects, err := list()
		if err != nil {
			return err.Error()
		}
		return described(objects)
	})
}

func described(objects []*unstructured.Unstructured) string {
	var b strings.Builder
	for _, o := range objects {
		fmt.Fprintln(&b, describe(o))
	}
	return b.String()
}

// Whatever is granted is labelled, so that people find it, and has a kind whose resource is guessed right.
func TestManifestsAreOurs(t *testing.T) {
	objects, err := granted()
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) < 15 {
		t.Errorf("there are only %d objects", len(objects))
	}
	for _, o := range objects {
		if o.GetLabels()[partOf] != ours {
			t.Errorf("%s has the labels %v", describe(o), o.GetLabels())
		}
	}
}
