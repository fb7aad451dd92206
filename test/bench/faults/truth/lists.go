// SPDX-License-Identifier: Apache-2.0

package truth

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	customv1beta2 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	externalv1beta1 "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Judge decodes answers and judges them.
type Judge struct {
	pods    *Pods
	decoder runtime.Decoder
}

// NewJudge judges by these Pods.
func NewJudge(pods *Pods) (*Judge, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{metricsv1beta1.AddToScheme, customv1beta2.AddToScheme, externalv1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("preparing to decode answers: %w", err)
		}
	}
	return &Judge{pods: pods, decoder: serializer.NewCodecFactory(scheme).UniversalDeserializer()}, nil
}

// Asked is what an answer is to: the Pods of a namespace that a selector means.
type Asked struct {
	Namespace string
	Selector  labels.Selector
}

// item is one of an answer.
type item struct {
	ID
	// wrong says what is wrong with its values; empty if nothing is.
	wrong func(of *life) string
}

// Usage judges a list of PodMetrics.
func (j *Judge) Usage(asked Asked, a Answer) Judgement {
	list := &metricsv1beta1.PodMetricsList{}
	if bad := j.read(a, list); bad != nil {
		return *bad
	}
	items := make([]item, len(list.Items))
	for i := range list.Items {
		m := &list.Items[i]
		items[i] = item{ID{m.Labels[fleet.ClusterLabel], m.Namespace, m.Name}, func(of *life) string { return j.pods.usageFault(of, m, a) }}
	}
	return j.items(asked, a, items)
}

// Figures judges a list of the custom metric of Pods.
func (j *Judge) Figures(asked Asked, a Answer) Judgement {
	list := &customv1beta2.MetricValueList{}
	if bad := j.read(a, list); bad != nil {
		return *bad
	}
	items := make([]item, len(list.Items))
	for i := range list.Items {
		m := &list.Items[i]
		cluster := ""
		if s := m.Metric.Selector; s != nil {
			cluster = s.MatchLabels[fleet.ClusterLabel]
		}
		items[i] = item{ID{cluster, m.DescribedObject.Namespace, m.DescribedObject.Name}, func(of *life) string {
			if got := m.Value.MilliValue(); got != of.Figure {
				return fmt.Sprintf("%d thousandths instead of %d", got, of.Figure)
			}
			return ""
		}}
	}
	return j.items(asked, a, items)
}

func (j *Judge) read(a Answer, into runtime.Object) *Judgement {
	if failure := a.failure(); failure != nil {
		return failure
	}
	decoded, _, err := j.decoder.Decode(a.Body, nil, into)
	if err != nil {
		return because(Broken, "decoding: %v", err)
	}
	if decoded != into {
		return because(Broken, "it is a %T", decoded)
	}
	return nil
}

func (j *Judge) items(asked Asked, a Answer, items []item) Judgement {
	p := j.pods
	p.mu.RLock()
	defer p.mu.RUnlock()
	lives := p.lives[asked.Namespace]
	seen := make(map[ID]bool, len(items))
	for _, i := range items {
		of := lives[i.ID]
		switch {
		case i.Namespace != asked.Namespace && (i.Namespace != "" || !p.distrusted(i.Cluster)): // some adapters leave it out
			return *because(WrongPod, "%v is in a namespace that was not asked for", i.ID)
		case seen[i.ID]:
			return *because(WrongPod, "%v is there twice", i.ID)
		case p.distrusted(i.Cluster):
			seen[i.ID] = true
			continue
		case of == nil:
			return *because(WrongPod, "%v never existed", i.ID)
		case !asked.Selector.Matches(of.Labels):
			return *because(WrongPod, "%v was not asked for", i.ID)
		}
		if ever, _ := of.existed(a.Begin.Add(-p.maxAge), a.End); !ever {
			return *because(WrongPod, "%v is gone", i.ID)
		}
		if fault := i.wrong(of); fault != "" {
			return *because(WrongValue, "%v: %s", i.ID, fault)
		}
		seen[i.ID] = true
	}
	return p.lacks(asked, a, lives, seen)
}

// lacks judges what is not in an answer. Its caller holds the lock.
func (p *Pods) lacks(asked Asked, a Answer, lives map[ID]*life, seen map[ID]bool) Judgement {
	missing, fault := a.missing(p.members)
	if fault != nil {
		return *fault
	}
	for id, of := range lives {
		if seen[id] || !asked.Selector.Matches(of.Labels) || slices.Contains(missing, id.Cluster) {
			continue
		}
		if _, always := of.existed(a.Begin.Add(-p.maxAge), a.End); always {
			return *because(Silent, "%v is missing, and nothing says that %s is", id, id.Cluster)
		}
	}
	return whole(missing)
}

// usageFault returns what is wrong with what a Pod is said to use. The time of its
// measurement is told in seconds.
func (p *Pods) usageFault(of *life, said *metricsv1beta1.PodMetrics, a Answer) string {
	number, at := p.beats[of.Cluster](said.Timestamp.Add(time.Second - time.Nanosecond))
	switch {
	case !at.Truncate(time.Second).Equal(said.Timestamp.Time):
		return fmt.Sprintf("nothing was measured at %v", said.Timestamp)
	case at.After(a.End):
		return fmt.Sprintf("measured at %v, later than it was told", at)
	case at.Add(p.resolution).Before(a.Begin.Add(-p.maxAge)):
		return fmt.Sprintf("measured %v ago", a.End.Sub(at))
	}
	used := of.Used(number)
	if len(used) != len(said.Containers) {
		return fmt.Sprintf("%d containers instead of %d", len(said.Containers), len(used))
	}
	for i, c := range said.Containers {
		if c.Name != used[i].Name || c.Usage.Cpu().Cmp(*used[i].Usage.Cpu()) != 0 || c.Usage.Memory().Cmp(*used[i].Usage.Memory()) != 0 {
			return fmt.Sprintf("%s used %v and %v instead of %v and %v", c.Name, c.Usage.Cpu(), c.Usage.Memory(), used[i].Usage.Cpu(),
				used[i].Usage.Memory())
		}
	}
	return ""
}
