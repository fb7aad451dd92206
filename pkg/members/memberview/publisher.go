// SPDX-License-Identifier: Apache-2.0

package memberview

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/configmap"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/registration/watcher"
)

// period is the interval at which views are compared with what is stored, and so the least time between two writes.
const period = 5 * time.Second

// Fleet are the clusters that are published.
type Fleet interface {
	All() []*member.Member
	// Settled is an error until each cluster was asked once.
	Settled() error
}

// Options of a [Publisher].
type Options struct {
	Hub        kubernetes.Interface
	HubDynamic dynamic.Interface
	// Namespace of the hub holds the ConfigMap.
	Namespace string
	Fleet     Fleet
	// Expiries are when the first token of each registration expires, by the name of its cluster; false: that is not known yet.
	Expiries func() (map[string]time.Time, bool)
	// Records are where replicas serve the record of decisions, ADDRESS:PORT, each its own part; nil: nobody does.
	Records func() []string
	// Timeout bounds each write.
	Timeout time.Duration
}

// Publisher writes the views of one program.
type Publisher struct {
	Options

	mu     sync.Mutex
	read   bool
	stored configmap.Stored

	// renewed is when the views were last renewed by this program, and how that is written.
	renewed renewal
}

type renewal struct {
	at   time.Time
	text string
}

// NewPublisher returns a publisher, of which one may work at a time.
func NewPublisher(o Options) *Publisher { return &Publisher{Options: o} }

// Run publishes until ctx ends.
func (p *Publisher) Run(ctx context.Context) error {
	var following sync.WaitGroup
	defer following.Wait()
	following.Go(func() { p.follow(ctx) })
	p.loop(ctx)
	return nil
}

func (p *Publisher) loop(ctx context.Context) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	var trouble *fleet.Silence
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		silence := silenceOf(p.publish(ctx))
		if silence != nil && (trouble == nil || trouble.Reason != silence.Reason) && ctx.Err() == nil {
			klog.FromContext(ctx).Info("Could not publish what is seen of the members", "configMap", klog.KRef(p.Namespace, Name),
				"reason", silence.Reason, "message", silence.Detail)
		}
		trouble = silence
	}
}

func silenceOf(err error) *fleet.Silence {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil // somebody else wrote it: what was written is about to be read
	}
	return fleet.Unanswered(err)
}

// publish writes what the ConfigMap lacks, once the clusters and what is stored of them are known.
func (p *Publisher) publish(ctx context.Context) error {
	p.mu.Lock()
	read, stored := p.read, p.stored
	p.mu.Unlock()
	expiries, known := p.Expiries()
	if !read || !known || p.Fleet.Settled() != nil {
		return nil
	}
	views, before := map[string]View{}, Decode(stored.Data)
	for _, m := range p.Fleet.All() {
		views[m.Name()] = viewOf(m.State(), m.Traits(), expiries[m.Name()], before[m.Name()])
	}
	renewed := p.renewed
	if now := time.Now(); now.Sub(renewed.at) >= renewEvery {
		renewed = renewal{now, now.UTC().Format(time.RFC3339)}
	}
	leader := map[string]string{renewedKey: renewed.text}
	if p.Records != nil {
		leader[recordKey] = strings.Join(p.Records(), ",")
	}
	want := encode(views, stored.Data, leader)
	if stored.Exists && maps.Equal(want, stored.Data) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	if err := configmap.Write(ctx, p.Hub, nameIn(p.Namespace), stored, want); err != nil {
		return err
	}
	p.renewed = renewed
	return nil
}

func (p *Publisher) follow(ctx context.Context) {
	named(p.HubDynamic, p.Namespace).Follow(ctx, func(object *unstructured.Unstructured) {
		stored := configmap.Of(object)
		p.mu.Lock()
		p.read, p.stored = true, stored
		p.mu.Unlock()
	}, func(*fleet.Silence) {})
}

// Follow reads the views, at first and after each change, until ctx ends, and tells of that. While they cannot be read, those that were
// read last stand, until they are stale.
func (s *Seen) Follow(ctx context.Context, hub dynamic.Interface, namespace string, changed func()) {
	named(hub, namespace).Follow(ctx, func(object *unstructured.Unstructured) {
		s.read(configmap.Of(object).Data, time.Now())
		changed()
	},
		func(trouble *fleet.Silence) {
			if trouble != nil {
				klog.FromContext(ctx).V(2).Info("Could not read what the controller-manager sees of the members",
					"configMap", klog.KRef(namespace, Name), "reason", trouble.Reason, "message", trouble.Detail)
			}
		})
}

func nameIn(namespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: Name}
}

func named(hub dynamic.Interface, namespace string) watcher.Named {
	return watcher.Named{
		Hub: hub, Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Namespace: namespace, Name: Name,
		What: "what the controller-manager sees of the members",
	}
}
