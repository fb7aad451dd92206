// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// A cluster joins by one command, top sees it, its tokens are rotated in both ways, and it leaves without a trace.
func TestMembership(t *testing.T) {
	e := shared.Of(t)
	before := e.trace(t)
	e.fails(t, "--allow-local-members", "join", east, "--context", east)
	e.fails(t, `context "hub" leads to the hub itself`, "join", "self", "--context", "hub", "--allow-local-members")
	e.does(t, "join", east, "--context", east, "--allow-local-members", "--dry-run=server")
	if after := e.trace(t); after != before {
		t.Errorf("a dry run and what is refused have left:\n%s", after)
	}

	s := e.does(t, "join", east, "--context", east, "--allow-local-members", "--create-workloads-in", "default", "--sizes")
	if s.out != "east joined\n" {
		t.Errorf("it printed %q", s.out)
	}
	e.fails(t, `is a member already, as "east"`, "join", "other", "--context", east, "--allow-local-members")
	e.fails(t, `the name "east" is taken`, "join", east, "--context", west, "--allow-local-members")
	e.top(t)

	former := e.tokens(t)
	e.does(t, "rotate", "--all")
	e.changed(t, former)
	former = e.tokens(t)
	e.does(t, "rotate", east, "--context", east, "--revoke")
	e.changed(t, former)
	for _, token := range former {
		err := fixture.Await(t.Context(), time.Minute, func(ctx context.Context) error { // an API server remembers for ten seconds
			if _, err := e.as(ctx, token); err == nil {
				return fmt.Errorf("a token that was revoked is accepted")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	e.top(t)

	e.does(t, "leave", east, "--context", east, "--delete-sizes", "--yes")
	if after := e.trace(t); after != before {
		t.Errorf("what is left:\n%s", after)
	}
}

// trace is what joining may leave, in the member and on the hub.
func (e *env) trace(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, args := range []string{
		"--context east get clusterroles,clusterrolebindings,namespaces,crds,mutatingadmissionpolicies,mutatingadmissionpolicybindings -o name",
		"--context east get roles,rolebindings,serviceaccounts -A -l app.kubernetes.io/part-of=fleetscale -o name",
		"--context hub get secrets -A -o name",
	} {
		said, err := e.Ask(t.Context(), strings.Fields(args)...)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(said.Stdout) {
			if strings.Contains(line, "fleetscale") || strings.Contains(line, "secret/east") {
				all.WriteString(line)
			}
		}
	}
	return all.String()
}

// top waits until kubectl top on the hub shows the nodes of east.
func (e *env) top(t *testing.T) {
	t.Helper()
	err := fixture.Await(t.Context(), time.Minute, func(ctx context.Context) error {
		said, err := e.Ask(ctx, "top", "nodes", "-l", "fleetscale.io/cluster=east")
		if err == nil && !strings.Contains(said.Stdout, "east-node1") {
			err = fmt.Errorf("top shows %s", said.Stdout)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// tokens are those of the registration of east.
func (e *env) tokens(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, namespace := range []string{fixture.RegistrationNamespace, fixture.WriteNamespace} {
		said, err := e.Ask(t.Context(), "-n", namespace, "get", "secret", east, "-o", "go-template={{.data.kubeconfig | base64decode}}")
		if err != nil {
			t.Fatal(err)
		}
		_, token, _ := strings.Cut(said.Stdout, "token: ")
		all = append(all, strings.TrimSpace(token))
	}
	return all
}

func (e *env) changed(t *testing.T, former []string) {
	t.Helper()
	for i, token := range e.tokens(t) {
		if token == former[i] {
			t.Errorf("token %d is the former one", i)
		}
		if _, err := e.as(t.Context(), token); err != nil {
			t.Errorf("token %d: %v", i, err)
		}
	}
}

// as asks east with a token, and none of the administrator's credentials.
func (e *env) as(ctx context.Context, token string) (fixture.Said, error) {
	c, err := e.Cluster(east)
	if err != nil {
		return fixture.Said{}, err
	}
	kubeconfig, err := c.TokenKubeconfig(token)
	if err != nil {
		return fixture.Said{}, err
	}
	return e.Feed(ctx, string(kubeconfig), "--kubeconfig", "/dev/stdin", "get", "namespace", "kube-system")
}
