// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

const hpaPath = "/apis/autoscaling.karmada.io/v1alpha1/namespaces/shop/federatedhpas/"

func (s *stage) leave(context, answer string) error {
	s.t.Helper()
	l := Leave{Target: Target{"east", context}, DeleteSizes: true, Yes: answer == ""}
	return l.Run(s.t.Context(), s.streams(answer), s.connected(), s.connect)
}

// A cluster that has left is as it was before, and so is the hub, whatever rights it had granted.
func TestLeave(t *testing.T) {
	all := map[string]Rights{
		"all rights": {Sizes: true, CreateIn: []string{"shop", "pay"}}, "in all": {CreateIn: []string{"*"}}, "to read": {ReadOnly: true},
		"in namespaces": {Namespaces: []string{"shop", "pay"}, Sizes: true, CreateIn: []string{"shop"}},
	}
	for name, rights := range all {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "east")
			east := s.members["east"]
			for _, namespace := range []string{"shop", "pay"} {
				east.put("/api/v1/namespaces/"+namespace, object{})
			}
			foreign := "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles/fleetscale-mine"
			east.put(foreign, object{"metadata": object{"namespace": "shop", "name": "fleetscale-mine", "labels": object{partOf: ours}}})
			before := east.has("/")
			if err := s.join(func(j *Join) { j.Rights = rights }, "east"); err != nil {
				t.Fatal(err)
			}
			if len(east.has("/")) == len(before) {
				t.Fatal("nothing was granted")
			}
			if err := s.leave("east", ""); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, east.has("/")); diff != "" {
				t.Errorf("the member (-before +after):\n%s", diff)
			}
			if got := s.hub.has(readPath, writePath); len(got) > 0 {
				t.Errorf("the hub has %q", got)
			}
			if !strings.HasSuffix(s.out.String(), "east left\n") {
				t.Errorf("output: %q", s.out.String())
			}
			if err := s.leave("east", ""); err != nil {
				t.Errorf("once more: %v", err)
			}
		})
	}
}

func TestLeaveAsks(t *testing.T) {
	s := newStage(t, "east")
	if err := s.join(nil, "east"); err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]object{
		"named": {"clusterAffinity": object{"clusterNames": []any{"east"}}}, "other": {"clusterAffinity": object{"clusterNames": []any{"west"}}},
	} {
		s.hub.put(hpaPath+name, object{"kind": "FederatedHPA", "apiVersion": "autoscaling.karmada.io/v1alpha1",
			"metadata": object{"namespace": "shop", "name": name}, "spec": spec})
	}
	for _, answer := range []string{"\n", "n\n", "nobody"} {
		if err := s.leave("east", answer); err == nil || !strings.HasPrefix(err.Error(), "nothing was changed") {
			t.Errorf("with %q leave = %v", answer, err)
		}
	}
	if s.hub.get(readPath+"east") == nil {
		t.Fatal("it left")
	}
	if said := s.progress.String(); !strings.Contains(said, "These name it, or act there now: FederatedHPA shop/named.\n") {
		t.Errorf("it is not told who selects the cluster:\n%s", said)
	}
	if err := s.leave("", "y\n"); err != nil {
		t.Fatal(err)
	}
	if s.hub.get(readPath+"east") != nil || !strings.Contains(s.out.String(), "run `kubectl fleetscale leave east --context CONTEXT`") {
		t.Errorf("output: %q", s.out.String())
	}
}

// Ctrl-C ends a question.
func TestConfirmEnds(t *testing.T) {
	in, keyboard := io.Pipe() // on which nobody types
	defer func() { _ = keyboard.Close() }()
	streams := genericiooptions.IOStreams{In: in, ErrOut: io.Discard}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := Confirm(ctx, streams, false, "Continue?")
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "nothing was changed") {
		t.Errorf("Confirm = %v", err)
	}
	if err := Confirm(ctx, streams, true, "Continue?"); err != nil {
		t.Errorf("with --yes: %v", err)
	}
}

// Sizes stay in force, and what is not ours stays too.
func TestLeaveKeepsSizes(t *testing.T) {
	s := newStage(t, "east")
	if err := s.join(func(j *Join) { j.Sizes = true }, "east"); err != nil {
		t.Fatal(err)
	}
	east := s.members["east"]
	kind := "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/podsizes.fleetscale.io"
	const theirs = "/apis/rbac.authorization.k8s.io/v1/clusterroles/fleetscale-create"
	east.put(theirs, object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
		"metadata": object{"name": "fleetscale-create"}})
	l := Leave{Target: Target{"east", "east"}, Yes: true}
	err := l.Run(t.Context(), s.streams(""), s.connected(), s.connect)
	if err == nil || !strings.Contains(err.Error(), "ClusterRole fleetscale-create in the cluster of context \"east\" lacks the label") {
		t.Errorf("leave = %v", err)
	}
	if got := east.has("sizes"); len(got) != 3 || east.get(kind) == nil {
		t.Errorf("of sizes remain %q", got)
	}
	if east.get(theirs) == nil || len(east.has("serviceaccounts")) > 0 {
		t.Errorf("remaining: %q", east.has("fleetscale"))
	}
	for _, want := range []string{"Its PodSizes stay in force", "another hub that uses the same ones loses its tokens"} {
		if !strings.Contains(s.progress.String(), want) {
			t.Errorf("it is not told %q:\n%s", want, s.progress.String())
		}
	}
}

func TestLeaveRefused(t *testing.T) {
	s := newStage(t, "east", "west")
	if err := s.leave("", ""); err == nil || !strings.Contains(err.Error(), "no Secret registers east") {
		t.Errorf("leave = %v", err)
	}
	s.register("east", "uid-of-east")
	if err := s.leave("west", ""); err == nil || !strings.Contains(err.Error(), "registers another cluster than that of context \"west\"") {
		t.Errorf("leave = %v", err)
	}
	s.hub.put("/api/v1/namespaces/fleetscale-system/configmaps/"+identitiesName,
		object{"data": object{"uid-of-west": `{"registration":"karmada/west","name":"west"}`}})
	l := Leave{Target: Target{Name: "west"}, Yes: true}
	err := l.Run(t.Context(), s.streams(""), s.connected(), s.connect)
	if err == nil || !strings.Contains(err.Error(), "west is registered by karmada/west, not by a Secret") {
		t.Errorf("leave = %v", err)
	}
	if len(s.hub.asked) > 0 {
		t.Errorf("the hub was changed: %q", s.hub.asked)
	}
}
