// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/scale"
	clientrecord "k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/central"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/distributed"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/registration"
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
	fleet := &sight.Reader{
		Reader: selection.Reader{
			Fleet: members, Placements: placement.NewKarmada(manager.GetClient(), clock.RealClock{}), Timeout: o.Members.Timeout,
		},
		Clock: clock.RealClock{},
	}
	recorder := record.New(manager.GetClient(), manager.GetEventRecorder(program))
	reconciler := federatedhpa.New(federatedhpa.Options{
		Hub:      manager.GetClient(),
		Recorder: recorder,
		Central: central.New(central.Options{
			Hub:              manager.GetClient(),
			Live:             manager.GetAPIReader(),
			Scales:           scales,
			Mapper:           manager.GetRESTMapper(),
			Fleet:            fleet,
			Recorder:         recorder,
			Ask:              asker,
			PropagationGrace: o.Autoscale.PropagationGrace,
			Decision:         o.Autoscale.Decision,
			Metrics:          central.NewMetrics(ctrlmetrics.Registry),
		}),
		Distributed: distributed.New(distributed.Options{
			Live:      manager.GetAPIReader(),
			Fleet:     fleet,
			Recorder:  recorder,
			Ask:       asker,
			Grace:     o.Autoscale.FailoverGrace,
			Window:    o.Autoscale.Decision.StabilizationWindow,
			Tolerance: o.Autoscale.Decision.Tolerance,
			Metrics:   distributed.NewMetrics(ctrlmetrics.Registry),
		}),
		Hold:       func() error { return cmp.Or(hold(), members.Settled()) },
		SyncPeriod: o.Autoscale.SyncPeriod,
		Clock:      clock.RealClock{},
	})
	if err := reconciler.SetUp(manager, o.Autoscale.Syncs, o.Hub.Timeout); err != nil {
		return err
	}
	return readyWhen(manager, "federatedhpas-known", synced)
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
	store := pods.New(pods.Options{})
	rooms := capacity.New(capacity.Options{Pods: store, Hub: hub, Timeout: o.Members.Timeout})
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
	broadcaster := clientrecord.NewBroadcaster()
	registry := member.New(o.Members.Registry(member.Options{
		Hub:           hub,
		HubDynamic:    hubDynamic,
		Registrations: registration.Options{Access: registration.Write},
		Connections:   connection.Options{UserAgent: manager.GetConfig().UserAgent},
		Recorder:      broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: program}),
		Metrics:       member.NewMetrics(ctrlmetrics.Registry),
	}))
	err = manager.Add(everywhere(func(ctx context.Context) error {
		defer broadcaster.Shutdown()
		broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: hub.CoreV1().Events("")})
		return registry.Run(ctx)
	}))
	if err != nil {
		return nil, err
	}
	return registry, manager.AddReadyzCheck("members-known",
		command.ReadyCheck("members-known", func(*http.Request) error { return registry.Settled() }))
}
