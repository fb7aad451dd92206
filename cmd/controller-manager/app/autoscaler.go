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
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/fleetscale/fleetscale/pkg/capacity"
	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/controllers/distributed"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa"
	"github.com/fleetscale/fleetscale/pkg/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/member"
	"github.com/fleetscale/fleetscale/pkg/placement"
	"github.com/fleetscale/fleetscale/pkg/pods"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

// addAutoscaler adds the controller of FederatedHPAs, and what it sees the members by.
func addAutoscaler(manager ctrl.Manager, scales scale.ScalesGetter, hold func() error, synced func() bool, o *Options) error {
	members, err := addMembers(manager, o)
	if err != nil {
		return err
	}
	asker, err := hubmetrics.New(manager.GetConfig(), manager.GetRESTMapper(), hubmetrics.NewMetrics(ctrlmetrics.Registry))
	if err != nil {
		return err
	}
	placements := placement.NewKarmada(manager.GetClient(), clock.RealClock{})
	reconciler := federatedhpa.New(federatedhpa.Options{
		Hub:         manager.GetClient(),
		Live:        manager.GetAPIReader(),
		Scales:      scales,
		Mapper:      manager.GetRESTMapper(),
		Fleet:       members,
		Placements:  placements,
		Ask:         asker,
		Distributed: newDistributed(manager, members, placements, asker, o),
		Hold:        hold,
		SyncPeriod:  o.Autoscale.SyncPeriod,

		MemberTimeout:    o.Members.Timeout,
		PropagationGrace: o.Autoscale.PropagationGrace,
		Decision:         o.Autoscale.Decision,
		Clock:            clock.RealClock{},
		Events:           manager.GetEventRecorder(program),
		Metrics:          federatedhpa.NewMetrics(ctrlmetrics.Registry),
	})
	if err := reconciler.SetUp(manager, o.Autoscale.Syncs, o.Hub.Timeout); err != nil {
		return err
	}
	return readyWhen(manager, "federatedhpas-known", synced)
}

// newDistributed makes what looks at FederatedHPAs of distributed mode.
func newDistributed(manager ctrl.Manager, members *workload.Members, placements *placement.Karmada, asker *hubmetrics.Client, o *Options) *distributed.Reconciler {
	return distributed.New(distributed.Options{
		Hub:           manager.GetClient(),
		Live:          manager.GetAPIReader(),
		Fleet:         members,
		Placements:    placements,
		Ask:           asker,
		MemberTimeout: o.Members.Timeout,
		Grace:         o.Autoscale.FailoverGrace,
		Window:        o.Autoscale.Decision.StabilizationWindow,
		Tolerance:     o.Autoscale.Decision.Tolerance,
		Clock:         clock.RealClock{},
		Events:        manager.GetEventRecorder(program),
		Metrics:       distributed.NewMetrics(ctrlmetrics.Registry),
	})
}

// addMembers adds what sees the members.
func addMembers(manager ctrl.Manager, o *Options) (*workload.Members, error) {
	registry, err := addRegistry(manager, o)
	if err != nil {
		return nil, err
	}
	hub, err := dynamic.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to read Karmada's summaries: %w", err)
	}
	store, rooms := pods.New(pods.Options{}), capacity.New(capacity.Options{Hub: hub, Timeout: o.Members.Timeout})
	members := workload.NewMembers(registry, store, rooms)
	for _, run := range []func(context.Context) error{store.Run, rooms.Run, members.Run} {
		if err := manager.Add(everywhere(run)); err != nil {
			return nil, err
		}
	}
	return members, nil
}

// addRegistry adds what knows the members. A replica that waits to become leader knows them too.
func addRegistry(manager ctrl.Manager, o *Options) (*member.Registry, error) {
	hub, err := kubernetes.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to read registrations: %w", err)
	}
	hubDynamic, err := dynamic.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to read registrations: %w", err)
	}
	broadcaster := record.NewBroadcaster()
	registry := member.New(o.Members.Registry(member.Options{
		Hub:        hub,
		HubDynamic: hubDynamic,
		Access:     member.Write,
		UserAgent:  manager.GetConfig().UserAgent,
		Recorder:   broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: program}),
		Metrics:    member.NewMetrics(ctrlmetrics.Registry),
	}))
	err = manager.Add(everywhere(func(ctx context.Context) error {
		defer broadcaster.Shutdown()
		broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: hub.CoreV1().Events("")})
		return registry.Run(ctx)
	}))
	if err != nil {
		return nil, err
	}
	return registry, manager.AddReadyzCheck("members-known", command.ReadyCheck("members-known", func(*http.Request) error { return registry.Settled() }))
}
