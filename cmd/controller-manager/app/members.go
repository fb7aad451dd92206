// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	clientrecord "k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/controllers/sharding"
	"github.com/fleetscale/fleetscale/pkg/controllers/tokens"
	"github.com/fleetscale/fleetscale/pkg/grants"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberview"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// addMembers adds what sees the members.
func addMembers(manager ctrl.Manager, o *Options, registry *member.Registry) (*workload.Members, error) {
	hub, err := dynamic.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to read Karmada's summaries: %w", err)
	}
	store := pods.New(pods.Options{Scope: o.Namespaces.Scope()})
	rooms := capacity.New(capacity.Options{
		Pods: store, Scope: o.Namespaces.Scope(), Hub: hub, Kinds: manager.GetRESTMapper(), Timeout: o.Members.Timeout,
	})
	members := workload.NewMembers(registry, store, rooms, o.Namespaces.Scope())
	for _, run := range []func(context.Context) error{store.Run, rooms.Run, members.Run} {
		if err := manager.Add(everywhere(run)); err != nil {
			return nil, err
		}
	}
	return members, nil
}

// addRegistry adds what knows the members. A replica that waits to become leader knows them too.
func addRegistry(
	manager ctrl.Manager, told *Metrics, records func() []string, shards *sharding.Shards, o *Options,
) (*member.Registry, error) {
	hub, err := kubernetes.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to read registrations: %w", err)
	}
	hubDynamic, err := dynamic.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to read registrations: %w", err)
	}
	way, err := command.HubEndpoint(manager.GetConfig())
	if err != nil {
		return nil, fmt.Errorf("preparing to reach members through the hub: %w", err)
	}
	needs, err := grants.NeededByControllerManager(o.Observing.Observe, o.Namespaces.Scope().Names())
	if err != nil {
		return nil, err
	}
	options := o.Members.Registry(member.Options{
		Hub:           hub,
		HubDynamic:    hubDynamic,
		Needs:         needs,
		Registrations: registration.Options{Access: registration.Write, WriteNamespace: o.WriteNamespace, Hub: way},
		Connections: connection.Options{
			UserAgent: manager.GetConfig().UserAgent, ReadOnly: o.Observing.Observe, Part: shards.Fraction,
		},
		Metrics: told.members,
	})
	var registry *member.Registry
	if o.Observing.Observe {
		registry = member.New(options)
		err = manager.Add(everywhere(registry.Run))
	} else {
		registry, err = addWritingRegistry(manager, told.tokens, records, o, options)
	}
	if err != nil {
		return nil, err
	}
	return registry, manager.AddReadyzCheck("members-known",
		command.ReadyCheck("members-known", func(*http.Request) error { return registry.Settled() }))
}

// addWritingRegistry adds the registry, and what writes to the hub for it: Events of registrations; and, by the leader, who is established
// as which cluster, new tokens, what it sees of the members, and where records of decisions are served.
func addWritingRegistry(manager ctrl.Manager, renewals *tokens.Metrics, records func() []string, o *Options, options member.Options) (
	*member.Registry, error) {
	broadcaster := clientrecord.NewBroadcaster()
	options.Recorder = broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: program})
	registry := member.New(options)
	err := manager.Add(everywhere(func(ctx context.Context) error {
		defer broadcaster.Shutdown()
		broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: options.Hub.CoreV1().Events("")})
		return registry.Run(ctx)
	}))
	if err != nil {
		return nil, err
	}
	if err := manager.Add(leading(registry.Record)); err != nil {
		return nil, err
	}
	tokenExpiries, err := addTokens(manager, registry, renewals, options, o.Hub.Timeout)
	if err != nil {
		return nil, err
	}
	publisher := memberview.NewPublisher(memberview.Options{
		Hub: options.Hub, HubDynamic: options.HubDynamic, Namespace: options.Namespace, Fleet: registry, Expiries: tokenExpiries,
		Records: records, Timeout: o.Members.Timeout,
	})
	return registry, manager.Add(leading(publisher.Run))
}
