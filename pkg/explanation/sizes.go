// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// What limits a size where no bound does.
const (
	LimitUse        = "Use"
	LimitPodMinimum = "PodMinimum"
	LimitBefore     = "Before"
)

// mostSizes is how many sizes are explained.
const mostSizes = 64

// resourceNames are in the order of [sizes.Resource].
var resourceNames = [...]corev1.ResourceName{sizes.CPU: corev1.ResourceCPU, sizes.Memory: corev1.ResourceMemory}

// OfSizes returns what is stored of how the containers of a template are sized, by what their advice comes from; nil: none are.
func OfSizes(t *sizes.Template, grounds map[string]sizes.Grounds, at time.Time) *v1alpha1.SizesExplanation {
	e := &v1alpha1.SizesExplanation{Time: metav1.NewMicroTime(at.Truncate(time.Microsecond))}
	for n := range t.Containers {
		g, known := grounds[t.Containers[n].Name]
		for r := range resourceNames {
			if known && g.Usage[r] >= 0 && t.Containers[n].Advice.Target[r] >= 0 {
				e.Sizes = append(e.Sizes, sizeOf(t, n, sizes.Resource(r), &g))
			}
		}
	}
	if len(e.Sizes) == 0 {
		return nil
	}
	all := e.Sizes
	for most := min(len(all), mostSizes); most >= 0; most-- {
		e.Sizes, e.Omitted = all[:most], int32(len(all)-most)
		if encoded, err := json.Marshal(e); err == nil && len(encoded) <= mostBytes {
			break
		}
	}
	return e
}

func sizeOf(t *sizes.Template, container int, r sizes.Resource, g *sizes.Grounds) v1alpha1.SizeExplanation {
	s := v1alpha1.SizeExplanation{
		ContainerName: t.Containers[container].Name, Resource: resourceNames[r],
		Percentile: int32(g.Options.Percentile[r]), Usage: g.Usage[r], MarginPercent: int32(g.Options.Margin),
		PodMinimum: g.Options.PodMinimum[r], Containers: int32(max(1, g.Options.Containers)),
		ByUse: t.Containers[container].Advice.Target[r], LimitedBy: LimitUse,
	}
	if g.Held {
		s.Before = &g.Last[r]
	}
	switch need, floor := needOf(&s), floorOf(&s); {
	case s.ByUse != max(need, floor):
		s.LimitedBy = LimitBefore
	case floor > need:
		s.LimitedBy = LimitPodMinimum
	}
	steps, target, left := sizes.StepsOf(t, container, r)
	for _, step := range steps {
		s.Bounds = append(s.Bounds, v1alpha1.SizeBound{Reason: string(step.Reason), Amount: step.Amount, Least: step.Least, Size: step.Size})
		s.LimitedBy = string(step.Reason)
	}
	if len(left) > 0 {
		s.LimitedBy = string(left[len(left)-1])
	}
	if target >= 0 {
		s.Target = &target
	}
	return s
}

// needOf is what use calls for, with the margin; floorOf is the part of the container in the least of a Pod.
func needOf(s *v1alpha1.SizeExplanation) int64 {
	return s.Usage + int64(float64(s.Usage)*(float64(s.MarginPercent)/100))
}

func floorOf(s *v1alpha1.SizeExplanation) int64 {
	return int64(float64(max(0, s.PodMinimum)) * (1 / float64(s.Containers)))
}

// SizesLimitedBy is what limits all sizes; empty: there is no explanation.
func SizesLimitedBy(e *v1alpha1.SizesExplanation) string {
	if e == nil {
		return ""
	}
	var all []string
	for i := range e.Sizes {
		s := &e.Sizes[i]
		all = append(all, fmt.Sprintf("%s/%s:%s", s.ContainerName, s.Resource, s.LimitedBy))
	}
	return strings.Join(all, " ")
}

// SizesText prints an explanation so that a person can redo it, as [Text] does.
func SizesText(e *v1alpha1.SizesExplanation) string {
	t := &page{}
	for i := range e.Sizes {
		t.size(&e.Sizes[i])
	}
	if e.Omitted > 0 {
		t.note(fmt.Sprintf("%d more sizes are not shown", e.Omitted))
	}
	return t.String()
}

func (t *page) size(s *v1alpha1.SizeExplanation) {
	unit, of := "thousandths of a core", "samples"
	if s.Resource == corev1.ResourceMemory {
		unit, of = "bytes", "daily peaks"
	}
	t.note(fleet.PrintableLine(fmt.Sprintf("container %s, %s, in %s: %d of 100 %s are below %d",
		s.ContainerName, s.Resource, unit, s.Percentile, of, s.Usage), mostTold))
	need, floor := needOf(s), floorOf(s)
	t.calculation("need", fmt.Sprintf("%d + trunc(%d * (%d / 100))", s.Usage, s.Usage, s.MarginPercent), need,
		fmt.Sprintf("with a margin of %d %%", s.MarginPercent))
	t.calculation("least", fmt.Sprintf("trunc(%d * (1 / %d))", max(0, s.PodMinimum), s.Containers), floor,
		"the least of a Pod, divided among its containers")
	byUse := fmt.Sprintf("max(%d, %d)", need, floor)
	note := ""
	if s.Before != nil {
		byUse, note = fmt.Sprintf("max(%d, %d, %d)", need, floor, *s.Before), "a cluster is silent, so it is not less than it was"
	}
	t.calculation("by use", byUse, s.ByUse, note)
	size := s.ByUse
	for i := range s.Bounds {
		b := &s.Bounds[i]
		of := "min"
		if b.Least {
			of = "max"
		}
		t.calculation("bound", fmt.Sprintf("%s(%d, %d)", of, size, b.Amount), b.Size, b.Reason)
		size = b.Size
	}
	if s.Target == nil {
		t.note(indent + "it stays as the template has it: " + fleet.PrintableLine(s.LimitedBy, mostTold))
		return
	}
	t.calculation("target", fmt.Sprint(size), *s.Target, "")
}
