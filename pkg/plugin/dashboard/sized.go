// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// mostSized is how many containers have pictures of what was recommended for them.
const mostSized = 8

const sizesHeld = "a cluster could not be seen, so nothing became less"

// sized is what was recommended for one container, and what it used, at the percentile that was aimed at.
type sized struct {
	Container string
	sizes.Advice
	Usage sizes.Amounts
}

// pointOfSizes is what was recommended for the fleet by one decision.
func pointOfSizes(r *recording.Record) point {
	p := point{At: r.Question.Now, State: string(v1alpha1.StateActive)}
	if r.Outcome == recording.Observed {
		p.State = string(v1alpha1.StateObserving)
	}
	q := &r.Sizes.Question
	if slices.ContainsFunc(q.Known, func(k recommendation.Known) bool { return k.Fleet.Silent }) {
		p.State = string(v1alpha1.StateHeld)
	}
	p.Sized = sizedBy(r.Sizes)
	if p.Beyond = len(p.Sized) - mostSized; p.Beyond > 0 {
		p.Sized = slices.Clone(p.Sized[:mostSized])
	}
	p.Beyond = max(0, p.Beyond)
	return p
}

// sizedBy are the containers for which something was recommended, in the order of the template.
func sizedBy(s *recording.Sizes) (all []sized) {
	usages := map[string]sizes.Amounts{}
	for _, a := range s.Question.Asked() {
		at := slices.IndexFunc(s.Question.Known, func(k recommendation.Known) bool { return k.Container == a.Container })
		if at >= 0 {
			usages[a.Container] = s.Question.Known[at].Fleet.Usage(a.Options)
		}
	}
	for i := range s.Said.Fleet {
		name, said := s.Question.Template.Containers[i].Name, s.Said.Fleet[i].Advice
		if said.Target == recommendation.NoAmounts() {
			continue
		}
		usage, known := usages[name]
		if !known {
			usage = recommendation.NoAmounts()
		}
		all = append(all, sized{name, said, usage})
	}
	return all
}

// sizesOver is what was recommended over the time.
type sizesOver struct {
	// At are times in milliseconds since 1970.
	At    []int64    `json:"at"`
	State []string   `json:"state"`
	Lines []sizeOver `json:"lines"`
	// Others is how many more containers there are.
	Others  int    `json:"others,omitempty"`
	Unknown []span `json:"unknown,omitempty"`
}

// sizeOver is a resource of a container, in cores or bytes; null: nothing was recommended, or known.
type sizeOver struct {
	Container string     `json:"container"`
	Resource  string     `json:"resource"`
	Target    []*float64 `json:"target"`
	Lower     []*float64 `json:"lower"`
	Upper     []*float64 `json:"upper"`
	Usage     []*float64 `json:"usage"`
}

// sizesOverOf draws the points of a record, as they are known until now.
func sizesOverOf(r *recorded, now time.Time) *sizesOver {
	s := &sizesOver{Lines: []sizeOver{}}
	for i := range r.points {
		s.At, s.State = append(s.At, r.points[i].At.UnixMilli()), append(s.State, r.points[i].State)
	}
	if n := len(r.points); n > 0 {
		s.Others = r.points[n-1].Beyond
	}
	for _, name := range containersOver(r.points) {
		for k := range recommendation.ResourceNames {
			if line, some := sizeOverOf(r.points, name, sizes.Resource(k)); some {
				s.Lines = append(s.Lines, line)
			}
		}
	}
	s.Unknown = together(spansOf(r.points, now.UnixMilli(), func(p *point) string {
		if p.State == string(v1alpha1.StateHeld) {
			return sizesHeld
		}
		return ""
	}), r.gaps)
	if missing := missingBetween(r.To, now.UnixMilli()); missing != nil {
		s.Unknown = append(s.Unknown, *missing)
	}
	return s
}

// containersOver are those that are drawn: those of the last point, and then others, the latest first.
func containersOver(points []point) (names []string) {
	for _, p := range slices.Backward(points) {
		for i := range p.Sized {
			if name := p.Sized[i].Container; len(names) < mostSized && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// sizeOverOf is a resource of a container over the time; false: it was never recommended.
func sizeOverOf(points []point, name string, r sizes.Resource) (line sizeOver, some bool) {
	n := len(points)
	line = sizeOver{Container: name, Resource: string(recommendation.ResourceNames[r]),
		Target: make([]*float64, n), Lower: make([]*float64, n), Upper: make([]*float64, n), Usage: make([]*float64, n)}
	for i := range points {
		at := slices.IndexFunc(points[i].Sized, func(s sized) bool { return s.Container == name })
		if at < 0 || points[i].Sized[at].Target[r] < 0 {
			continue
		}
		of := &points[i].Sized[at]
		line.Target[i], line.Lower[i], line.Upper[i] = valueOf(of.Target, r), valueOf(of.Lower, r), valueOf(of.Upper, r)
		line.Usage[i], some = valueOf(of.Usage, r), true
	}
	return line, some
}

// valueOf is an amount in cores or bytes; nil: there is none.
func valueOf(a sizes.Amounts, r sizes.Resource) *float64 {
	switch {
	case a[r] < 0:
		return nil
	case r == sizes.CPU:
		return new(float64(a[r]) / 1000)
	}
	return new(float64(a[r]))
}

// sizesExplained is what was recommended, and of what use.
func sizesExplained(r *recording.Record) string {
	b := &strings.Builder{}
	percentiles := map[string][2]int{}
	for _, a := range r.Sizes.Question.Asked() {
		percentiles[a.Container] = a.Percentile
	}
	if pointOfSizes(r).State == string(v1alpha1.StateHeld) {
		b.WriteString(sizesHeld + "\n")
	}
	for _, s := range sizedBy(r.Sizes) {
		for k, name := range recommendation.ResourceNames {
			if s.Target[k] < 0 {
				continue
			}
			of := func(a sizes.Amounts) string { return amountText(a, sizes.Resource(k)) }
			fmt.Fprintf(b, "%s %s: %s is recommended; less than %s is too little, and more than %s waste\n", s.Container, name,
				of(s.Target), of(s.Lower), of(s.Upper))
			if percentile := percentiles[s.Container][k]; percentile > 0 && s.Usage[k] >= 0 {
				fmt.Fprintf(b, "  %d of 100 samples of what is used are below %s\n", percentile, of(s.Usage))
			}
		}
	}
	return b.String()
}

func amountText(a sizes.Amounts, r sizes.Resource) string {
	if r == sizes.CPU {
		return resource.NewMilliQuantity(max(0, a[r]), resource.DecimalSI).String()
	}
	return resource.NewQuantity(max(0, a[r]), resource.BinarySI).String()
}
