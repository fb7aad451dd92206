// SPDX-License-Identifier: Apache-2.0

package skew

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// former has the kinds as they were once, and objects of that time.
const former = "../api/testdata/former"

// TestUpgradeOfKinds applies our kinds over former ones, as docs/upgrade.md has people do it, and those over ours again, on hubs of the
// oldest and of the newest version. No program runs: what is stored has to stay as it is.
func TestUpgradeOfKinds(t *testing.T) {
	if testing.Short() {
		t.Skip("building other versions of Kubernetes takes minutes; it runs in make test-full PARTS=skew")
	}
	for _, minor := range []string{"1.35", newest} {
		t.Run("hub "+minor, func(t *testing.T) {
			e := raiseHub(t, minor)
			e.applyFormerKinds(t)
			e.createFormerObjects(t)
			before := e.stored(t)
			if err := e.InstallKinds(t.Context(), e.Hub()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, e.stored(t)); diff != "" {
				t.Errorf("the upgrade changes objects (-before +after):\n%s", diff)
			}
			e.applyFormerKinds(t)
			if diff := cmp.Diff(before, e.stored(t)); diff != "" {
				t.Errorf("going back changes objects (-before +after):\n%s", diff)
			}
		})
	}
}

// raiseHub starts a hub without members or programs.
func raiseHub(t *testing.T, minor string) *env {
	t.Helper()
	build(t, minor)
	e := &env{}
	fixture.RaiseFor(t, lab.Options{Hub: lab.Hub{Kubernetes: kubernetesOf(minor)}}, nil,
		func(_ context.Context, f *fixture.Fleet, _ map[string]string) (err error) {
			e.Fleet = f
			e.objects, err = f.Hub().Dynamic()
			return err
		})
	return e
}

// applyFormerKinds returns when all of them are served.
func (e *env) applyFormerKinds(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(former, "autoscaling.karmada.io_*.yaml"))
	if err != nil || len(files) != 4 {
		t.Fatalf("former CustomResourceDefinitions: %v (%v), want four", files, err)
	}
	for _, file := range files {
		if _, err := e.Ask(t.Context(), "apply", "--server-side", "--force-conflicts", "-f", file); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Ask(t.Context(), "wait", "--for=condition=Established", "--timeout=60s", "-f", file); err != nil {
			t.Fatal(err)
		}
	}
}

func (e *env) createFormerObjects(t *testing.T) {
	t.Helper()
	for _, written := range formerObjects(t) {
		if err := e.CreateNamespace(t.Context(), e.Hub(), written.GetNamespace()); err != nil {
			t.Fatal(err)
		}
		eventually(t, "creating "+called(written), func(ctx context.Context) error {
			_, err := e.of(written).Create(ctx, written, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
			return err
		})
		status, has := written.Object["status"]
		if !has {
			continue
		}
		eventually(t, "writing the status of "+called(written), func(ctx context.Context) error {
			created, err := e.of(written).Get(ctx, written.GetName(), metav1.GetOptions{})
			if err != nil {
				return err
			}
			created.Object["status"] = status
			_, err = e.of(written).UpdateStatus(ctx, created, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
			return err
		})
	}
}

// stored are the objects as the hub has them: with their versions, so that a write would show.
func (e *env) stored(t *testing.T) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, written := range formerObjects(t) {
		eventually(t, "reading "+called(written), func(ctx context.Context) error {
			object, err := e.of(written).Get(ctx, written.GetName(), metav1.GetOptions{})
			if err == nil {
				all[called(written)] = object.Object
			}
			return err
		})
	}
	return all
}

// of reads and writes objects of that kind and namespace on the hub.
func (e *env) of(o *unstructured.Unstructured) dynamic.ResourceInterface {
	resource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	return e.objects.Resource(resource).Namespace(o.GetNamespace())
}

func called(o *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s", o.GetKind(), o.GetName())
}

func formerObjects(t *testing.T) (all []*unstructured.Unstructured) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(former, "objects.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		asJSON, err := yaml.YAMLToJSON(document)
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(asJSON); err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	}
	return all
}
