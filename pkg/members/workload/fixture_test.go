// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// server is a cluster's API server, which answers as it is told.
type server struct{ *memberstest.Server }

func newServer(t *testing.T, versions ...string) server {
	return server{memberstest.NewServer(t, versions...)}
}

// answer is a code, and a body.
type answer struct {
	code int
	body string
}

// join registers the cluster as east, and returns it once it is ready. Namespaces are those in scope; none: all.
func (s server) join(t *testing.T, namespaces ...string) Cluster {
	t.Helper()
	hub := memberstest.NewHub(t)
	hub.Put(t, s.Secret(t))
	typed, untyped := hub.Clients(t)
	registry := member.New(member.Options{
		Hub: typed, HubDynamic: untyped, Registrations: registration.Options{Namespace: "fleet"},
		Connections: connection.Options{Timeout: 20 * time.Second, AllowLocal: true}, ProbePeriod: 50 * time.Millisecond,
	})
	store := pods.New(pods.Options{})
	rooms := capacity.New(capacity.Options{Pods: store, Hub: untyped, Timeout: 20 * time.Second})
	scope, err := tenancy.NewScope(namespaces)
	if err != nil {
		t.Fatal(err)
	}
	members := NewMembers(registry, store, rooms, scope)
	for _, run := range []func(context.Context) error{registry.Run, store.Run, rooms.Run, members.Run} {
		memberstest.Run(memberstest.Logged(t), t, run)
	}
	memberstest.Until(t, "one cluster that is ready", func() bool {
		all := members.Clusters()
		return members.Settled() == nil && len(all) == 1 && all[0].Silence() == nil
	})
	return members.Clusters()[0]
}
