// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// side is one way in which the hub admits writes.
type side struct {
	name      string
	namespace string         // about which it is asked
	webhook   *stage.Webhook // nil: none
	judge     func(w write, code int, body []byte) error

	versions map[string]string // of what is stored, by resource
}

const (
	ours       = "webhook"
	emptyOne   = "empty webhook"
	schemaOnly = "schema alone"
)

// cell is one measurement, which is repeated in each round.
type cell struct {
	what    string // dryRun, creation or direct
	side    string
	clients int
}

const (
	dryRun   = "dry-run"
	creation = "create"
	direct   = "review"
)

func (c cell) String() string { return fmt.Sprintf("%s/%s/clients=%d", c.what, c.side, c.clients) }

// figures are all that was measured of a cell, a sample for each round. CPU is in
// milliseconds, for a write or for a review.
type figures struct {
	p50, p99, perSecond, hubCPU, webhookCPU measure.Samples
}

// bench does the experiment.
type bench struct {
	*stage.Stage
	plan

	log       io.Writer
	hub       *stage.Server
	writers   dynamic.Interface
	sides     []*side
	idle      map[measure.Process]float64
	cells     map[cell]*figures
	wrong     int
	complaint string
	resident  map[string]float64 // MiB of each webhook, in the end
	series    int                // of creations, so far
	stored    int                // autoscalers
}

func admissions(ctx context.Context, s *stage.Stage, p plan, log io.Writer) (section report.Section, err error) {
	b := &bench{Stage: s, plan: p, log: log, idle: map[measure.Process]float64{}, cells: map[cell]*figures{}, resident: map[string]float64{}}
	if err := b.connect(); err != nil {
		return section, err
	}
	ourWebhook, err := s.Webhook(ctx, log)
	if err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, s.RemoveWebhook(ctx, ourWebhook)) }()
	b.sides = []*side{
		{name: schemaOnly, namespace: fixture.SystemNamespace, judge: write.admitted},
		{name: emptyOne, namespace: metav1.NamespaceSystem, judge: write.admitted},
		{name: ours, namespace: metav1.NamespaceDefault, webhook: ourWebhook, judge: write.judged},
	}
	b.sides[1].webhook, err = s.WebhookPeer(ctx, Argument, b.sides[1].namespace)
	if err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, s.RemoveWebhook(ctx, b.sides[1].webhook)) }()
	defer func() { err = errors.Join(err, b.clear(ctx)) }()
	if err := b.prepare(ctx); err != nil {
		return section, err
	}
	if err := b.measure(ctx); err != nil {
		return section, err
	}
	return b.section(), nil
}

// connect prepares to write as an administrator, without limits of the client.
func (b *bench) connect() error {
	config, err := b.Hub().RESTConfig()
	if err != nil {
		return err
	}
	config.QPS = -1
	_, pid, err := b.Hub().Process("kube-apiserver").State()
	if err != nil {
		return err
	}
	if b.hub, err = stage.NewServer(config, measure.Process(pid)); err != nil {
		return err
	}
	b.writers, err = dynamic.NewForConfig(config)
	return err
}

// prepare stores what will be updated, waits until all webhooks are asked, and
// reads what everybody uses when nothing is written.
func (b *bench) prepare(ctx context.Context) error {
	for _, s := range b.sides {
		if err := b.store(ctx, s); err != nil {
			return err
		}
	}
	fmt.Fprintln(b.log, "Waiting until the hub asks the webhooks ...")
	for _, s := range b.sides {
		if err := fixture.Await(ctx, time.Minute, func(ctx context.Context) error { return b.asks(ctx, s) }); err != nil {
			return fmt.Errorf("waiting for writes to be right with %s: %w", s.name, err)
		}
	}
	for _, p := range []measure.Process{b.hub.PID, b.sides[1].webhook.PID, b.sides[2].webhook.PID} {
		idle, err := p.Idle(ctx, b.Settle)
		if err != nil {
			return err
		}
		b.idle[p] = idle
	}
	return nil
}

func (b *bench) store(ctx context.Context, s *side) error {
	s.versions = map[string]string{}
	for _, resource := range []string{federated, cron} {
		of := b.of(resource, s.namespace)
		err := fixture.Await(ctx, time.Minute, func(ctx context.Context) error {
			object := &unstructured.Unstructured{}
			if err := object.UnmarshalJSON(write{number: unlike, resource: resource}.object(s.namespace, stored, "")); err != nil {
				return err
			}
			if _, err := of.Create(ctx, object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
			found, err := of.Get(ctx, stored, metav1.GetOptions{})
			if err == nil {
				s.versions[resource] = found.GetResourceVersion()
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("storing %s to update: %w", resource, err)
		}
	}
	return nil
}

func (b *bench) of(resource, namespace string) dynamic.ResourceInterface {
	gvr := schema.GroupVersionResource{Group: "autoscaling.karmada.io", Version: "v1alpha1", Resource: resource}
	return b.writers.Resource(gvr).Namespace(namespace)
}

// asks reports whether a period of writes is admitted as it should be, and whether
// the empty webhook was asked twice about each.
func (b *bench) asks(ctx context.Context, s *side) error {
	counted := s.name == emptyOne
	var before, after int64
	var err error
	if counted {
		if before, err = asked(ctx, s.webhook); err != nil {
			return err
		}
	}
	result := measure.Ask(ctx, b.hub.Client, b.dry(s), measure.Load{Clients: period})
	if len(result.Latencies) != period {
		return errors.New(result.Complaint)
	}
	if counted {
		if after, err = asked(ctx, s.webhook); err == nil && after-before != 2*period {
			err = fmt.Errorf("it was asked %d times about %d writes", after-before, period)
		}
	}
	return err
}

// asked returns how often the empty webhook was.
func asked(ctx context.Context, w *stage.Webhook) (n int64, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL, nil)
	if err != nil {
		return 0, err
	}
	resp, err := w.Client(1).RoundTrip(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = fmt.Fscan(resp.Body, &n)
	return n, err
}

// clear deletes all that was written.
func (b *bench) clear(ctx context.Context) error {
	var errs []error
	for _, s := range b.sides {
		for _, resource := range []string{federated, cron} {
			errs = append(errs, b.of(resource, s.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: label}))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("deleting what was written: %w", err)
	}
	return nil
}
