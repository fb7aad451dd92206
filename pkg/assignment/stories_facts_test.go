// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

const unbounded = math.MaxInt32 // room that nobody knows

func (s *tale) named(name string) *town {
	i := slices.IndexFunc(s.members, func(w *town) bool { return w.Name == name })
	if i < 0 {
		s.Fatalf(s.t, "there is no cluster %q", name)
	}
	return s.members[i]
}

func (s *tale) number(text string) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		s.Fatalf(s.t, "%v", err)
	}
	return int32(n)
}

func (s *tale) thousandths(text string) int64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.Fatalf(s.t, "%v", err)
	}
	return int64(math.Round(n * whole))
}

// before is that long before now.
func (s *tale) before(text string) *time.Time {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.Fatalf(s.t, "%v", err)
	}
	return new(s.now.Add(-d))
}

// setFacts changes facts of clusters, one a line.
func (s *tale) setFacts() {
	for line := range strings.Lines(s.Input) {
		words := strings.Fields(line)
		for _, word := range words[1:] {
			key, value, _ := strings.Cut(word, "=")
			if w := s.named(words[0]); !s.setNumber(w, key, value) && !s.setState(w, key, value) {
				s.Fatalf(s.t, "unknown fact: %s", word)
			}
		}
	}
}

// setNumber changes how many of something there are.
func (s *tale) setNumber(w *town, key, value string) bool {
	least, most, split := strings.Cut(key, "/")
	switch key {
	case "weight":
		w.Weight = int64(s.number(value))
	case "priority":
		w.Priority = s.number(value)
	case "floor":
		w.Floor = s.number(value)
	case "ceiling":
		w.Ceiling = s.number(value)
	case "runs":
		w.Current, w.Desired = s.number(value), s.number(value)
		w.ScalingActive = w.Current > 0
	case "room":
		w.room = s.number(value)
	case "more":
		w.Additional = new(s.number(value))
	case "wants":
		w.Desired = s.number(value)
	case "load":
		w.Ratios = nil
		if value == "unknown" {
			return true
		}
		for percent := range strings.SplitSeq(value, ",") {
			w.Ratios = append(w.Ratios, s.thousandths(percent)/100)
		}
	default:
		if split {
			w.Min, w.Max = s.number(least), s.number(most)
			if w.bounds = [2]int32{w.Min, w.Max}; w.State == v1alpha1.ClusterExcluded {
				w.State = v1alpha1.ClusterActive
			}
		}
		return split
	}
	return true
}

// setState changes what a cluster is like, and since when.
func (s *tale) setState(w *town, key, value string) bool {
	switch key {
	case "waiting":
		w.pendingSince = *s.before(value)
	case "limited":
		w.TooManyReplicas = true
	case "moving":
		w.Steady = false
	case "stuck":
		w.ScalingActive = false
	case "scaled":
		w.LastScale = s.before(value)
	case "zero":
		atZero(&w.Site)
	case "hidden":
		s.hidden[w.Name] = true
	case "saturated":
		w.State = v1alpha1.ClusterSaturated
	case "new":
		fresh(&w.Site)
	case "room-since":
		w.SchedulableSince = s.before(value)
	case "silent":
		if w.away = true; value != "" {
			w.State, w.Since = v1alpha1.ClusterUnreachable, *s.before(value)
		}
	case "refuses":
		w.Presence, w.away = Refusing, true
	case "back", "accepts":
		w.Recovered, w.Presence, w.GivenUp, w.away = w.Presence == Refusing, Present, false, false
	case "given-up":
		w.GivenUp = true
	case "balks", "obeys":
		w.Balks = key == "balks"
	case "leaves", "joins":
		s.leave(w)
	case "free", "cordoned", "drained":
		w.Recovered = key == "free" && w.Standing != taints.Free
		w.Standing = map[string]taints.Standing{"cordoned": taints.Cordoned, "drained": taints.Drained}[key]
	default:
		return false
	}
	return true
}

// specify changes the spec, and what is remembered.
func (s *tale) specify() {
	for _, arg := range s.CmdArgs {
		value := strings.Join(arg.Vals, "")
		switch arg.Key {
		case "policy":
			s.s.Policy, s.s.Rebalance = Policy(value), snapshot(Policy(value), 0, 0).Rebalance
		case "min":
			s.s.Min = s.number(value)
		case "max":
			s.s.Max = s.number(value)
		case "order":
			s.s.Order = v1alpha1.DistributionOrder(value)
		case "scale-down":
			s.s.ScaleDownOrder = v1alpha1.ScaleDownOrder(value)
		case "rebalance":
			s.s.Rebalance.Strategy = v1alpha1.RebalanceStrategy(value)
		case "to-zero":
			s.s.ScalingToZero = value != "no"
		case "changed":
			s.s.Changed = true
		case "wanted":
			s.s.Wanted = true
		case "low":
			s.s.Memory.UnderloadedSince = new(metav1.NewTime(*s.before(value)))
		case "woken":
			s.s.Memory.LastScaleFromZeroTime = new(metav1.NewTime(*s.before(value)))
		case "moved":
			s.s.Memory.LastRebalanceTime = new(metav1.NewTime(*s.before(value)))
		default:
			s.Fatalf(s.t, "unknown argument: %s", arg)
		}
	}
}
