// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/controllers/multidim"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// mostPrice is that of registrations, too.
const mostPrice = 1_000_000

// mostPerMinute is more than an API server could take.
const mostPerMinute = 1_000_000

// MultidimOptions are those of MultidimPodAutoscalers.
type MultidimOptions struct {
	Syncs                           int
	Period, SavePeriod              time.Duration
	PodMinimumCPU, PodMinimumMemory resource.QuantityValue
	NodeHeadroom                    int
	PriceCPUHour, PriceGiBHour      float64
	ResizeDeferred, ResizeTimeout   time.Duration
	Rates                           multidim.Rates
}

func newMultidimOptions() MultidimOptions {
	return MultidimOptions{
		Syncs: 10, Period: time.Minute, SavePeriod: 10 * time.Minute, NodeHeadroom: 10,
		PodMinimumCPU: quantity("25m"), PodMinimumMemory: quantity("250Mi"),
		ResizeDeferred: 5 * time.Minute, ResizeTimeout: time.Hour, Rates: multidim.Rates{Resizes: 120, Evictions: 10},
	}
}

func quantity(text string) resource.QuantityValue {
	return resource.QuantityValue{Quantity: resource.MustParse(text)}
}

func (o *MultidimOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("sizing")
	fs.IntVar(&o.Syncs, "concurrent-mpa-syncs", o.Syncs, "Number of MultidimPodAutoscalers that are reconciled concurrently.")
	fs.DurationVar(&o.Period, "vertical-period", o.Period, "Interval at which each MultidimPodAutoscaler is reconciled.")
	fs.DurationVar(&o.SavePeriod, "history-save-period", o.SavePeriod,
		"Interval at which what containers used is saved on the hub; up to six times as long as it grows. A process that is killed "+
			"loses as much.")
	fs.Var(&o.PodMinimumCPU, "pod-minimum-cpu", "The least cpu that is recommended for a Pod, all its sized containers together.")
	fs.Var(&o.PodMinimumMemory, "pod-minimum-memory", "The least memory that is recommended for a Pod, all its sized containers together.")
	fs.IntVar(&o.NodeHeadroom, "node-headroom", o.NodeHeadroom,
		"How many percent of the largest node of a cluster a recommended size leaves to others, from 0 to 99.")
	fs.Float64Var(&o.PriceCPUHour, "price-cpu-hour", o.PriceCPUHour, "What a core costs in an hour, for clusters whose registration does "+
		"not say so. Costs are shown where this and --price-gib-hour are known.")
	fs.Float64Var(&o.PriceGiBHour, "price-gib-hour", o.PriceGiBHour, "What a GiB of memory costs in an hour, for clusters whose "+
		"registration does not say so.")
	fs.DurationVar(&o.ResizeDeferred, "resize-deferred-timeout", o.ResizeDeferred,
		"How long a resize may wait for room on its node before the Pod is evicted, or the resize withdrawn.")
	fs.DurationVar(&o.ResizeTimeout, "resize-timeout", o.ResizeTimeout,
		"How long a resize may be under way before the Pod is evicted, or the resize withdrawn.")
	fs.IntVar(&o.Rates.Resizes, "member-resizes-per-minute", o.Rates.Resizes,
		"How many Pods of each member are resized in a minute, of all workloads.")
	fs.IntVar(&o.Rates.Evictions, "member-evictions-per-minute", o.Rates.Evictions,
		"How many Pods of each member are evicted for their size in a minute, of all workloads.")
}

func (o *MultidimOptions) validate() error {
	return errors.Join(
		command.When(o.Syncs < 1, "--concurrent-mpa-syncs: must be 1 or more, got %d", o.Syncs),
		command.When(o.Period < time.Second, "--vertical-period: must be 1s or more, got %v", o.Period),
		command.When(o.SavePeriod < time.Second, "--history-save-period: must be 1s or more, got %v", o.SavePeriod),
		command.When(o.ResizeDeferred < time.Second, "--resize-deferred-timeout: must be 1s or more, got %v", o.ResizeDeferred),
		command.When(o.ResizeTimeout < time.Second, "--resize-timeout: must be 1s or more, got %v", o.ResizeTimeout),
		validRate("--member-resizes-per-minute", o.Rates.Resizes),
		validRate("--member-evictions-per-minute", o.Rates.Evictions),
		command.When(o.NodeHeadroom < 0 || o.NodeHeadroom > 99, "--node-headroom: must be from 0 to 99, got %d", o.NodeHeadroom),
		command.When(o.PodMinimumCPU.Sign() < 0, "--pod-minimum-cpu: must be 0 or more, got %v", &o.PodMinimumCPU),
		command.When(o.PodMinimumMemory.Sign() < 0, "--pod-minimum-memory: must be 0 or more, got %v", &o.PodMinimumMemory),
		validPrice("--price-cpu-hour", o.PriceCPUHour),
		validPrice("--price-gib-hour", o.PriceGiBHour),
	)
}

func validRate(flag string, rate int) error {
	return command.When(rate < 0 || rate > mostPerMinute, "%s: must be from 0 to %d, got %d", flag, mostPerMinute, rate)
}

func validPrice(flag string, price float64) error {
	return command.When(!(price >= 0 && price <= mostPrice), "%s: must be from 0 to %d, got %v", flag, mostPrice, price)
}

// addSaving has histories saved by who learns them.
func (p *parts) addSaving(manager ctrl.Manager, store *history.Store) error {
	if p.shards != nil {
		return manager.Add(everywhere(store.Run))
	}
	return manager.Add(leading(store.Run))
}

// addMultidim adds the controller of MultidimPodAutoscalers, and what saves what it learns. What it saved is read from the hub
// itself: a cache would hold it all.
func addMultidim(manager ctrl.Manager, p *parts, o *Options) error {
	store := history.New(struct {
		client.Reader
		client.Writer
	}{p.live, p.client}, o.Multidim.SavePeriod)
	if !o.Observing.Observe { // else what is learned ends with the program
		if err := p.addSaving(manager, store); err != nil {
			return err
		}
	}
	hub, err := sizing.NewHub(manager.GetConfig(), manager.GetHTTPClient(), o.Hub.Timeout, o.Namespaces.Scope())
	if err != nil {
		return err
	}
	if err := manager.Add(everywhere(hub.Run)); err != nil {
		return err
	}
	reconciler := multidim.New(multidim.Options{
		Hub:     p.client,
		Live:    p.live,
		Scales:  p.scales,
		Fleet:   p.fleet,
		VPAs:    hub,
		Uses:    p.metrics,
		History: store,
		Hold:    p.holdFleet,
		Grace:   o.Autoscale.DeletionGrace,
		Period:  o.Multidim.Period,
		Sizing: multidim.Sizing{
			PodMinimum:     sizes.Amounts{o.Multidim.PodMinimumCPU.MilliValue(), o.Multidim.PodMinimumMemory.Value()},
			Headroom:       int64(o.Multidim.NodeHeadroom),
			Price:          sizes.Price{Core: o.Multidim.PriceCPUHour, GiB: o.Multidim.PriceGiBHour},
			ResizeDeferred: o.Multidim.ResizeDeferred, ResizeTimeout: o.Multidim.ResizeTimeout,
		},
		Rates:     o.Multidim.Rates,
		Clock:     clock.RealClock{},
		Events:    p.events,
		Metrics:   p.told.multidim,
		MostShown: o.Serving.MetricsPerObject,
		Observes:  o.Observing.Observe,
		Shards:    p.shards,
		Records:   p.records,
	})
	if err := reconciler.SetUp(manager, o.Multidim.Syncs, o.Hub.Timeout); err != nil {
		return err
	}
	return readyWhen(manager, "multidimpodautoscalers-known", p.synced)
}
