// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Text prints an explanation so that a person can redo it. Each line with a = is a calculation: what is left of the = comes to what is
// right of it. A line with ? is a question, and its answer.
func Text(e *v1alpha1.DecisionExplanation) string {
	t := &page{}
	for i := range e.Metrics {
		t.metric(e, &e.Metrics[i])
	}
	if e.OmittedMetrics > 0 {
		t.note(fmt.Sprintf("%d more metrics, which ask for no more, are not shown", e.OmittedMetrics))
	}
	switch replicas.Basis(e.Basis) {
	case replicas.BasisMetrics:
		t.steps(e)
	case replicas.BasisNothing:
		t.note("the metrics cannot be used, or some cannot and the others ask for fewer: nothing changes")
	case replicas.BasisMax:
		t.calculation("bounds", fmt.Sprintf("min(%d, %d)", e.CurrentReplicas, e.DesiredReplicas), e.DesiredReplicas,
			"there are more than maxReplicas; metrics are not asked")
	case replicas.BasisMin:
		t.calculation("bounds", fmt.Sprintf("max(%d, %d)", e.CurrentReplicas, e.DesiredReplicas), e.DesiredReplicas,
			"there are fewer than minReplicas; metrics are not asked")
	case replicas.BasisDisabled:
		t.note("somebody scaled to zero, which switches scaling off")
	}
	t.division(e.Division)
	if e.Split != nil {
		t.split(e.Split)
	}
	return t.String()
}

// mostTold bounds, in characters, what is repeated of a text of others, in one line of ours.
const mostTold = 4096

// page is text in which calculations stand below each other.
type page struct{ strings.Builder }

const indent = "    "

func (t *page) calculation(name, of string, is any, note string) {
	line := fmt.Sprintf("%s%-10s %s = %v", indent, name, of, is)
	if note != "" {
		line = fmt.Sprintf("%-60s  %s", line, note)
	}
	t.WriteString(line + "\n")
}

func (t *page) question(name, of string, is bool, note string) {
	answer := "no"
	if is {
		answer = "yes"
	}
	line := fmt.Sprintf("%s%-10s %s ? %s", indent, name, of, answer)
	if note != "" {
		line = fmt.Sprintf("%-60s  %s", line, note)
	}
	t.WriteString(line + "\n")
}

func (t *page) note(text string) { t.WriteString("  " + text + "\n") }

func (t *page) metric(e *v1alpha1.DecisionExplanation, m *v1alpha1.MetricExplanation) {
	t.note(fmt.Sprintf("metric %d: %s, %s", m.Index, fleet.PrintableLine(m.Name, mostTold), goal(m)))
	t.clusters(m)
	if m.Error != "" {
		return
	}
	value := m.Value
	switch replicas.Rule(m.Rule) {
	case replicas.RuleUtilization, replicas.RuleAverage:
		t.sums(m)
		if m.Filled != nil {
			value = *m.Filled
		}
	case replicas.RuleRatio, replicas.RuleShare:
		fmt.Fprintf(t, "%s%-10s %d\n", indent, "value", m.Value)
	}
	t.asks(e, m, value)
	if e.Copies > 1 {
		t.calculation("each", fmt.Sprintf("ceil(%d / %d)", m.Asks, e.Copies), replicas.Each(m.Asks, int(e.Copies)),
			"each of the clusters runs the workload whole")
	}
}

func goal(m *v1alpha1.MetricExplanation) string {
	switch replicas.Rule(m.Rule) {
	case replicas.RuleUtilization:
		return fmt.Sprintf("target %d %% of requests; amounts in milli", m.Target)
	case replicas.RuleAverage:
		return fmt.Sprintf("target %d for each Pod, on average; amounts in milli", m.Target)
	case replicas.RuleRatio:
		return fmt.Sprintf("target %d; amounts in milli", m.Target)
	case replicas.RuleShare:
		return fmt.Sprintf("target %d for each replica; amounts in milli", m.Target)
	}
	return fleet.PrintableLine(m.Error, mostTold)
}

func (t *page) clusters(m *v1alpha1.MetricExplanation) {
	if len(m.Clusters) == 0 {
		return
	}
	w := tabwriter.NewWriter(t, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(w, indent+"CLUSTER\tCOUNTED\tUNREADY\tMISSING\tLEAVING\tUSED\tREQUESTED\tAGE")
	row := func(name string, p *v1alpha1.ClusterPods, age *int32) {
		old := ""
		if age != nil {
			old = fmt.Sprintf("%ds", *age)
		}
		_, _ = fmt.Fprintf(w, "%s%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", indent, name, p.Counted, p.Unready, p.Missing, p.Ignored, p.Used,
			p.Requested, old)
	}
	for i := range m.Clusters {
		row(m.Clusters[i].Name, &m.Clusters[i].ClusterPods, m.Clusters[i].AgeSeconds)
	}
	if m.Others != nil {
		row(fmt.Sprintf("%d others", m.Others.Clusters), &m.Others.ClusterPods, nil)
	}
	if f := m.Fleet; f != nil {
		row("fleet", &v1alpha1.ClusterPods{
			Counted: f.Counted, Unready: f.Unready, Missing: f.Missing, Ignored: f.Ignored, Used: f.Used, Requested: f.Requested,
		}, nil)
	}
	_ = w.Flush()
}

// sums prints how the value of Pods comes from their sums, without and with those that have no sample.
func (t *page) sums(m *v1alpha1.MetricExplanation) {
	utilization := replicas.Rule(m.Rule) == replicas.RuleUtilization
	f := m.Fleet
	used, of := terms{f.Used}, terms{f.Requested}
	note := fmt.Sprintf("%s with a sample", fleet.Counted(int(f.Counted), "Pod"))
	if !utilization {
		of = terms{int64(f.Counted)}
		if f.Unlisted != 0 {
			used, of = append(used, f.UnlistedUsed), append(of, int64(f.Unlisted))
			note += fmt.Sprintf(", and %d samples of Pods that no list holds", f.Unlisted)
		}
	}
	t.calculation("value", over(used, of, utilization), m.Value, note)
	if m.Filled == nil {
		return
	}
	var assumed []string
	switch {
	case m.Busy && utilization:
		used, of = append(used, f.Busy), append(of, f.MissingRequested)
	case m.Busy:
		used, of = append(used, m.Target*int64(f.Missing)), append(of, int64(f.Missing))
	case m.Idle && utilization:
		of = append(of, f.MissingRequested)
	case m.Idle:
		of = append(of, int64(f.Missing))
	}
	if m.Busy || m.Idle {
		as := "idle"
		if m.Busy {
			as = "busy"
		}
		assumed = append(assumed, fmt.Sprintf("%s without a sample as if %s", fleet.Counted(int(f.Missing), "Pod"), as))
	}
	if m.Unready {
		assumed = append(assumed, fmt.Sprintf("%s not ready as if idle", fleet.Counted(int(f.Unready), "Pod")))
		if utilization {
			of = append(of, f.UnreadyRequested)
		} else {
			of = append(of, int64(f.Unready))
		}
	}
	t.calculation("filled", over(used, of, utilization), *m.Filled, "with "+strings.Join(assumed, ", and "))
}

// terms are added up.
type terms []int64

func (t terms) String() string {
	all := make([]string, len(t))
	for i, n := range t {
		all[i] = fmt.Sprint(n)
	}
	if len(all) == 1 {
		return all[0]
	}
	return "(" + strings.Join(all, " + ") + ")"
}

func over(used, of terms, percent bool) string {
	if percent {
		return fmt.Sprintf("100 * %v // %v", used, of)
	}
	return fmt.Sprintf("%v // %v", used, of)
}

// asks prints what comes of a value.
func (t *page) asks(e *v1alpha1.DecisionExplanation, m *v1alpha1.MetricExplanation, value int64) {
	rule, outcome := replicas.Rule(m.Rule), replicas.Outcome(m.Outcome)
	share, atZero := rule == replicas.RuleShare, rule == replicas.RuleRatio && e.CurrentReplicas == 0
	ratio := fmt.Sprintf("%d / %d", value, m.Target)
	scaled := fmt.Sprintf("ceil(%s * %d)", ratio, m.Multiplied)
	switch {
	case share:
		scaled = fmt.Sprintf("ceil(%s)", ratio)
		ratio = fmt.Sprintf("%d / (%d * %d)", value, m.Target, m.Multiplied)
	case atZero:
		scaled = fmt.Sprintf("ceil(%s)", ratio)
	}
	if !atZero && (!share || m.Multiplied > 0) {
		t.question("tolerance", fmt.Sprintf("1 - %s <= %s <= 1 + %s", m.ToleranceDown, ratio, m.ToleranceUp),
			outcome == replicas.OutcomeTolerated || outcome == replicas.OutcomeLagging, "")
	}
	switch outcome {
	case replicas.OutcomeScaled:
		t.calculation("asks", scaled, m.Asks, "")
	case replicas.OutcomeTolerated:
		if share {
			t.calculation("asks", fmt.Sprint(m.Multiplied), m.Asks, "within the tolerance: as many as run")
			return
		}
		t.calculation("asks", fmt.Sprint(m.Told), m.Asks, "within the tolerance: nothing changes")
	case replicas.OutcomeLagging:
		t.calculation("asks", fmt.Sprint(m.Told), m.Asks, "within the tolerance, and clusters have yet to hear what they were told")
	case replicas.OutcomeTurned:
		t.question("turned", fmt.Sprintf("%d < %d < %d", min(m.Value, value), m.Target, max(m.Value, value)), true,
			"on this side of the target without the Pods filled in, and on that side with them")
		t.calculation("asks", fmt.Sprint(m.Told), m.Asks, "they could turn the direction: nothing changes")
	case replicas.OutcomeAgainst, replicas.OutcomeUnproven:
		if value < m.Target {
			t.calculation("asks", fmt.Sprintf("min(%s, %d)", scaled, m.Told), m.Asks, "more Pods than replicas are no reason for more")
			return
		}
		t.calculation("asks", fmt.Sprintf("max(%s, %d)", scaled, m.Told), m.Asks, "fewer Pods than replicas are no reason for fewer")
	}
}

func (t *page) steps(e *v1alpha1.DecisionExplanation) {
	before, current := int32(0), e.CurrentReplicas
	for i := range e.Steps {
		s := &e.Steps[i]
		note := ""
		switch s.Step {
		case StepMetrics:
			asks := []string{"0"}
			for i := range e.Metrics {
				if m := &e.Metrics[i]; m.Error == "" {
					asks = append(asks, fmt.Sprint(replicas.Each(m.Asks, int(e.Copies))))
				}
			}
			t.calculation("most asked", "max("+strings.Join(asks, ", ")+")", s.Replicas, note)
		case StepHeld:
			t.calculation("held", fmt.Sprintf("max(%d, %d)", before, current), s.Replicas, "clusters cannot be seen: "+unseen(e))
		case StepWindow:
			t.window(s, before, current)
		case StepPolicy:
			t.policy(s, before, current)
		case StepBounds:
			t.calculation("bounds", bounded(s, before), s.Replicas, "minReplicas and maxReplicas, where the direction asks for them")
		case StepFromZero:
			t.calculation("from zero", fmt.Sprintf("max(%d, %d)", before, *s.Lowest), s.Replicas, "at least minReplicas")
		}
		before = s.Replicas
	}
}

func unseen(e *v1alpha1.DecisionExplanation) string {
	var all []string
	for _, u := range e.Unseen {
		all = append(all, u.Cluster+" ("+u.Reason+")")
	}
	if more := int(e.UnseenClusters) - len(e.Unseen); more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}

func (t *page) window(s *v1alpha1.ExplanationStep, before, current int32) {
	highest, note := fmt.Sprint(before), ""
	if s.Highest != nil {
		highest = fmt.Sprintf("max(%d, %d)", before, *s.Highest)
		note = fmt.Sprintf("highest of the last %d s: %d", *s.DownSeconds, *s.Highest)
	}
	if s.UpSeconds == nil {
		t.calculation("window", highest, s.Replicas, note)
		return
	}
	lowest := fmt.Sprint(before)
	if s.Lowest != nil {
		lowest = fmt.Sprintf("min(%d, %d)", before, *s.Lowest)
		note = strings.TrimPrefix(fmt.Sprintf("%s; lowest of the last %d s: %d", note, *s.UpSeconds, *s.Lowest), "; ")
	}
	t.calculation("window", fmt.Sprintf("min(max(%d, %s), %s)", current, lowest, highest), s.Replicas, note)
}

func (t *page) policy(s *v1alpha1.ExplanationStep, before, current int32) {
	limit, note := fmt.Sprint(*s.Limit), "no policy allows a change in this direction"
	switch p := s.Policy; {
	case p == nil && *s.Limit == int32(max(2*int64(current), 4)):
		limit, note = fmt.Sprintf("max(2 * %d, 4)", current), "without spec.behavior: at most twice as many, and always 4"
	case p == nil:
	case p.Type == "Percent" && s.Falling:
		t.calculation("limit", fmt.Sprintf("trunc(%d * (1 - %d / 100))", *s.Start, p.Value), *s.Limit, "")
		note = fmt.Sprintf("at most -%d %% in %d s", p.Value, p.PeriodSeconds)
	case p.Type == "Percent":
		t.calculation("limit", fmt.Sprintf("ceil(%d * (1 + %d / 100))", *s.Start, p.Value), *s.Limit, "")
		note = fmt.Sprintf("at most +%d %% in %d s", p.Value, p.PeriodSeconds)
	case s.Falling:
		t.calculation("limit", fmt.Sprintf("%d - %d", *s.Start, p.Value), *s.Limit, "")
		note = fmt.Sprintf("at most -%d in %d s", p.Value, p.PeriodSeconds)
	default:
		t.calculation("limit", fmt.Sprintf("%d + %d", *s.Start, p.Value), *s.Limit, "")
		note = fmt.Sprintf("at most +%d in %d s", p.Value, p.PeriodSeconds)
	}
	switch {
	case s.Falling:
		t.calculation("policy", fmt.Sprintf("max(%d, min(%d, %s))", before, current, limit), s.Replicas, note)
	case strings.HasPrefix(limit, "max"):
		t.calculation("policy", fmt.Sprintf("min(%d, %s)", before, limit), s.Replicas, note)
	default:
		t.calculation("policy", fmt.Sprintf("min(%d, max(%d, %s))", before, current, limit), s.Replicas, note)
	}
}

func bounded(s *v1alpha1.ExplanationStep, before int32) string {
	text := fmt.Sprint(before)
	if s.Highest != nil {
		text = fmt.Sprintf("min(%s, %d)", text, *s.Highest)
	}
	if s.Lowest != nil {
		text = fmt.Sprintf("max(%s, %d)", text, *s.Lowest)
	}
	return text
}

func (t *page) division(d *v1alpha1.DivisionExplanation) {
	if d == nil {
		return
	}
	var parts, told []string
	total := int64(0)
	for _, c := range d.Clusters {
		parts, total = append(parts, fmt.Sprint(c.To)), total+int64(c.To)
		change := fmt.Sprintf("%s %d", c.Name, c.To)
		if c.From != c.To {
			change = fmt.Sprintf("%s %d to %d", c.Name, c.From, c.To)
		}
		if c.Why != "" {
			change += " (" + c.Why + ")"
		}
		told = append(told, change)
	}
	if o := d.Others; o != nil {
		parts, total = append(parts, fmt.Sprint(o.To)), total+int64(o.To)
		told = append(told, fmt.Sprintf("%d others %d", o.Clusters, o.To))
	}
	if len(parts) == 0 {
		return
	}
	policy := d.Policy
	if policy == "" {
		policy = "in proportion to what they run"
	}
	t.calculation("divided", strings.Join(parts, " + "), total, policy+": "+strings.Join(told, ", "))
}
