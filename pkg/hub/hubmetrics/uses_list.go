// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/rest"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// usesList is what was read of a list of PodMetrics. The containers of all its Pods lie one after the other, so that a Pod
// costs no memory of its own but for its name.
type usesList struct {
	pods       []podUses
	containers []ContainerUse
	names      []string // of containers: those of one workload's Pods are few
}

type podUses struct {
	podItem

	end int // of its containers, which begin where those of the Pod before end
}

// mostNames bounds the names that are searched; others are kept with each container.
const mostNames = 16

func (l *usesList) read(r rest.Result) error {
	return readUsage(r, l.skim, l.decoded)
}

// skim reads a list in protobuf. It is false if that cannot be skimmed.
func (l *usesList) skim(body []byte) bool {
	return skimItems(body, func(encoded []byte) error {
		var p podItem
		if err := p.skim(encoded, l.skimContainer); err != nil {
			return err
		}
		l.add(p)
		return nil
	})
}

func (l *usesList) skimContainer(encoded []byte) error {
	use := ContainerUse{MilliCPU: None, Memory: None}
	var quantity resource.Quantity
	name, err := skimContainer(encoded, func(key, value []byte) error {
		isCPU := string(key) == string(corev1.ResourceCPU)
		if !isCPU && string(key) != string(corev1.ResourceMemory) {
			return nil
		}
		if err := skimQuantity(value, &quantity); err != nil {
			return err
		}
		if isCPU {
			use.MilliCPU = amountOf(&quantity, resource.Milli)
		} else {
			use.Memory = amountOf(&quantity, 0)
		}
		return nil
	})
	use.Name = l.nameOf(name)
	l.containers = append(l.containers, use)
	return err
}

// decoded takes what could not be skimmed; see skim.
func (l *usesList) decoded(list *metricsv1beta1.PodMetricsList) {
	*l = usesList{}
	for i := range list.Items {
		for _, c := range list.Items[i].Containers {
			l.containers = append(l.containers, ContainerUse{
				Name:     c.Name,
				MilliCPU: amountIn(c.Usage, corev1.ResourceCPU, resource.Milli),
				Memory:   amountIn(c.Usage, corev1.ResourceMemory, 0),
			})
		}
		l.add(podItemOf(&list.Items[i]))
	}
}

// add adds the Pod whose containers are the last ones. The first of a name stays.
func (l *usesList) add(p podItem) {
	begin := l.begin(len(l.pods))
	own := l.containers[begin:]
	slices.SortStableFunc(own, func(a, b ContainerUse) int { return cmp.Compare(a.Name, b.Name) })
	own = slices.CompactFunc(own, func(a, b ContainerUse) bool { return a.Name == b.Name })
	l.containers = l.containers[:begin+len(own)]
	l.pods = append(l.pods, podUses{p, len(l.containers)})
}

// inOrder are the Pods at these places of the list.
func (l *usesList) inOrder(places map[string]int) []PodUses {
	if len(places) == 0 {
		return nil
	}
	all := make([]PodUses, 0, len(places))
	for _, i := range places {
		p := &l.pods[i]
		all = append(all, PodUses{Name: p.name, Measured: p.at.Time, Window: p.window.Duration, Containers: l.containersOf(i)})
	}
	slices.SortFunc(all, func(a, b PodUses) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// begin is where the containers of a Pod begin.
func (l *usesList) begin(pod int) int {
	if pod == 0 {
		return 0
	}
	return l.pods[pod-1].end
}

// containersOf are those of a Pod. They have the capacity that they need, so that nobody appends to the next Pod's.
func (l *usesList) containersOf(pod int) []ContainerUse {
	end := l.pods[pod].end
	return l.containers[l.begin(pod):end:end]
}

// nameOf is the name of a container, kept once for all that have it.
func (l *usesList) nameOf(name []byte) string {
	for _, known := range l.names {
		if known == string(name) {
			return known
		}
	}
	kept := string(name)
	if len(l.names) < mostNames {
		l.names = append(l.names, kept)
	}
	return kept
}

// mostUsed bounds what is taken for an amount, in cores and bytes: a pebibyte.
const mostUsed = 1 << 50

func amountIn(used corev1.ResourceList, name corev1.ResourceName, scale resource.Scale) int64 {
	quantity, has := used[name]
	if !has {
		return None
	}
	return amountOf(&quantity, scale)
}

// amountOf is None for what nobody can use.
func amountOf(q *resource.Quantity, scale resource.Scale) int64 {
	if q.Sign() < 0 || q.CmpInt64(mostUsed) > 0 {
		return None
	}
	return q.ScaledValue(scale)
}
