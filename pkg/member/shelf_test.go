// SPDX-License-Identifier: Apache-2.0

package member

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestShelfTellsWhatHappened(t *testing.T) {
	secret := func(name string) *corev1.Secret { return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	var told []string
	s := &shelf{
		objects: map[string]metav1.Object{},
		keep:    func(object any) metav1.Object { return object.(*corev1.Secret) },
		tell: following{
			changed: func(name string) { told = append(told, name) },
			synced:  func() { told = append(told, "synced") },
		},
	}
	steps := []struct {
		what  string
		do    func() error
		names string
		told  string // in order, but for what one replacement tells
	}{
		{"the first list", func() error { return s.Replace([]any{secret("a"), secret("b")}, "1") }, "a b", "a b synced"},
		{"one comes", func() error { return s.Add(secret("c")) }, "a b c", "c"},
		{"one changes", func() error { return s.Update(secret("a")) }, "a b c", "a"},
		{"one goes", func() error { return s.Delete(secret("a")) }, "b c", "a"},
		{"another list, without b", func() error { return s.Replace([]any{secret("c"), secret("d")}, "2") }, "c d", "b c d"},
		{"nothing", s.Resync, "c d", ""},
	}
	for _, step := range steps {
		told = nil
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if last := len(told) - 1; last > 0 && told[last] == "synced" {
			slices.Sort(told[:last])
		} else {
			slices.Sort(told)
		}
		names := s.names()
		slices.Sort(names)
		if diff := cmp.Diff([]string{step.names, step.told}, []string{strings.Join(names, " "), strings.Join(told, " ")}); diff != "" {
			t.Errorf("%s: names, told (-want +got):\n%s", step.what, diff)
		}
	}
}

func TestLittleIsKept(t *testing.T) {
	fields := []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	secret := secretWith(nil, annotated(corev1.LastAppliedConfigAnnotation, "all of it again"), annotated(nameAnnotation, "e"))
	secret.ManagedFields = fields
	kept := askSecrets(newFakeHub(t).options(t).Hub, "fleet", nil).keep(secret)
	if diff := cmp.Diff(map[string]string{nameAnnotation: "e"}, kept.GetAnnotations()); diff != "" || kept.GetManagedFields() != nil {
		t.Errorf("managed fields %v, annotations (-want +got):\n%s", kept.GetManagedFields(), diff)
	}
	cluster := karmadaObject(newFakeMember(t, "1"), "west", func(spec map[string]any) { spec["zones"] = "not a list" })
	if kept := slimCluster(cluster).(*karmadaCluster); kept.Name != "west" || !parseCluster(kept, credentials{}, Policy{}).refused() {
		t.Errorf("a Cluster that cannot be read became %+v, want its name, refused", kept)
	}
}
