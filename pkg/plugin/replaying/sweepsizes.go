// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/chart"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// sizeSweepReport is what programs get of several percentiles, or margins.
type sizeSweepReport struct {
	Namespace string           `json:"namespace"`
	Name      string           `json:"name"`
	Field     replay.SizeField `json:"field"`
	// Headroom is what is to be between use and request, in percent of the use.
	Headroom float64     `json:"headroomPercent"`
	Within   float64     `json:"withinPercent"`
	Was      sums        `json:"was"`
	Values   []sizeTrial `json:"values"`
	// Seconds is for how long decisions were recorded, and Unknown for how long the use is not known, by the reason.
	Seconds float64                    `json:"seconds"`
	Unknown map[replay.Unknown]float64 `json:"unknownSeconds,omitempty"`
	Advice  replay.SizeAdvice          `json:"advice"`
}

type sizeTrial struct {
	Value int32 `json:"value"`
	Would sums  `json:"would"`
}

// usualSizes are tried where only a headroom is wished.
var usualSizes = map[replay.SizeField]string{replay.TargetPercentile: "50:99:7", replay.MarginPercent: "0:100:10"}

func (o *Options) sweepSizes(w io.Writer, l *loaded, run replay.Options) error {
	r, err := o.sweptSizes(l, run)
	if err != nil {
		return err
	}
	return o.writeSheet(w, r, r.sheet(), r.pictures)
}

// sweptSizes are the trials, and what they lead to.
func (o *Options) sweptSizes(l *loaded, run replay.Options) (*sizeSweepReport, error) {
	r := &sizeSweepReport{
		Namespace: l.Namespace, Name: l.Name, Field: cmp.Or(o.Sweep.Field, replay.TargetPercentile), Within: o.Sweep.Within,
		Unknown: map[replay.Unknown]float64{},
	}
	least, most := r.Field.Range()
	values, err := targetsOf(cmp.Or(o.Sweep.Targets, usualSizes[r.Field]), true, least)
	if err != nil {
		return nil, err
	}
	if last := values[len(values)-1]; last > most {
		return nil, fmt.Errorf("--sweep: %s is from %d to %d, got %d", r.Field, least, most, last)
	}
	if o.Sweep.Wished {
		r.Headroom = o.Sweep.Headroom
		run.Headroom = r.Headroom / 100
	}
	tried := make([]int32, len(values))
	for i, value := range values {
		tried[i] = int32(value)
	}
	trials, err := replay.SweepSizes(l.records, run, r.Field, tried)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.title(), err)
	}
	for i := range trials {
		r.Values = append(r.Values, sizeTrial{trials[i].Value, newSums(trials[i].Would)})
		longest(r.Unknown, trials[i].Unknown)
	}
	r.Was, r.Seconds, r.Advice = newSums(trials[0].Was), trials[0].Lasts.Seconds(), replay.AdviseSizes(trials, r.Within/100)
	return r, nil
}

func (r *sizeSweepReport) title() string {
	return "MultidimPodAutoscaler " + r.Namespace + "/" + r.Name
}

func (r *sizeSweepReport) sheet() *sheet {
	return &sheet{
		Title: r.title(), Caption: string(r.Field), Notes: []string{fmt.Sprintf("%s of all containers, over %.1f h", r.Field, r.Seconds/3600)},
		Head: []string{"PERCENT", "CORE-HOURS", "GIB-HOURS", "CPU ABOVE", "MEMORY ABOVE", "KILLS NOT COVERED", "CHANGED"}, Rows: r.table(),
		Unknown: unknownsOf(r.Unknown, becauseOfSizes), Advice: r.advised(), Assuming: assumptionOfSizes,
	}
}

func (r *sizeSweepReport) table() [][]string {
	row := func(name string, s *sums) []string {
		hours := func(was, would float64) string { return fmt.Sprintf("%.1f%s", would, change(was, would)) }
		was, of := &r.Was.Sizes, &s.Sizes
		return []string{
			name, hours(was.CoreHours, of.CoreHours), hours(was.GiBHours, of.GiBHours), lasting(of.AboveCPU), lasting(of.AboveMemory),
			strconv.Itoa(of.Uncovered), strconv.Itoa(of.Changes),
		}
	}
	all := [][]string{row("as it was", &r.Was)}
	for i := range r.Values {
		all = append(all, row(digits(int64(r.Values[i].Value)), &r.Values[i].Would))
	}
	return all
}

// advised says what to set, and how far that can be trusted.
func (r *sizeSweepReport) advised() string {
	var set, lacks []string
	for _, of := range []struct {
		name  string
		value *int32
	}{{"cpu", r.Advice.CPU}, {"memory", r.Advice.Memory}} {
		if of.value == nil {
			lacks = append(lacks, of.name)
		} else {
			set = append(set, fmt.Sprintf("%s: %d", of.name, *of.value))
		}
	}
	what := "targetPercentile: {" + strings.Join(set, ", ") + "}"
	if r.Field == replay.MarginPercent { // there is one for both
		if len(lacks) > 0 {
			set = nil
		} else {
			what = "marginPercent: " + digits(int64(max(*r.Advice.CPU, *r.Advice.Memory)))
		}
	}
	goal := "more than is requested"
	if r.Headroom > 0 {
		goal = fmt.Sprintf("more than what leaves a headroom of %v %%", r.Headroom)
	}
	goal += fmt.Sprintf(" is used for no more than %v %% of the time", r.Within)
	if len(set) == 0 {
		return fmt.Sprintf("no advice: there is none with which %s, of %s", goal, strings.Join(lacks, " and "))
	}
	text := fmt.Sprintf("advice: %s: the least with which %s", what, goal)
	if len(lacks) > 0 {
		text += "; none does, of " + lacks[0]
	}
	if r.Advice.AtLeast {
		text += "\nat least that: some of the use is not known, and may have been more"
	}
	return text
}

// pictures are what the values take, and for how long they are not enough.
func (r *sizeSweepReport) pictures() []chart.Plot {
	plot := func(title, y string, of func(*sums) float64) chart.Plot {
		var points []chart.Point
		for i := range r.Values {
			points = append(points, chart.At(float64(r.Values[i].Value), of(&r.Values[i].Would)))
		}
		return against(r.title()+": "+title, string(r.Field), y, points)
	}
	return []chart.Plot{
		plot("core-hours requested", "core-hours", func(s *sums) float64 { return s.Sizes.CoreHours }),
		plot("GiB-hours requested", "GiB-hours", func(s *sums) float64 { return s.Sizes.GiBHours }),
		plot("time in which cpu is used above the request", "minutes", func(s *sums) float64 { return s.AboveCPUSeconds / 60 }),
		plot("time in which memory is used above the request", "minutes", func(s *sums) float64 { return s.AboveMemorySeconds / 60 }),
	}
}
