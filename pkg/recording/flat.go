// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// longestText is how much of an error is kept.
const longestText = 2048

// ledger goes over a record as numbers: it writes them, or reads them into the record, in the same order, so that the two cannot differ.
// What is read may be anything: the first number that cannot be is noted in err, and zeros follow.
type ledger struct {
	reading bool
	numbers []int64
	at      int
	err     error
	// unsound: there are numbers with which no decision can be made.
	unsound bool
	// names are those of the clusters, in order.
	names []string
	// number returns that of a text, and text that of a number; 0 is "".
	number func(text string) int64
	text   func(number int64) (string, bool)
}

// of goes over a record of any kind.
func (l *ledger) of(r *Record, spec *int64) {
	switch r.Object.Kind {
	case Splits:
		l.split(r, spec)
	case SizesKind:
		l.sizes(r, spec)
	default:
		l.record(r, spec)
	}
}

// record goes over all but the object, and the spec, which has the number spec. Lists that grow come last: what is behind them moves.
func (l *ledger) record(r *Record, spec *int64) {
	q := &r.Question
	l.time(&q.Now)
	l.int(&q.Generation)
	l.int(spec)
	l.duration(&q.Options.StabilizationWindow)
	l.float(&q.Options.Tolerance)
	l.duration(&q.Options.CPUInitializationPeriod)
	l.duration(&q.Options.InitialReadinessDelay)
	l.int32(&q.Scale.Replicas)
	l.int32(&q.Scale.StatusReplicas)
	l.string(&q.Scale.Selector)
	l.error(&q.Scale.Err)
	number(l, &q.Copies)
	l.status(&q.Status)
	l.int32(&r.Decided)
	number(l, &r.Outcome)
	l.int32(&r.After)
	list(l, &q.Clusters, l.cluster)
	l.names = sortedNames(l.names[:0], q)
	list(l, &r.Facts, func(f *Facts) {
		l.optional(&f.Ready)
		l.optional(&f.Age)
	})
	upTo(l, mostMetrics, &q.Metrics, l.metric)
	l.state(&q.State)
}

func (l *ledger) status(s *autoscalingv2.HorizontalPodAutoscalerStatus) {
	l.int32(&s.DesiredReplicas)
	kinds := []autoscalingv2.HorizontalPodAutoscalerConditionType{autoscalingv2.ScaledToZero, v1alpha1.FleetVisible}
	for _, kind := range kinds {
		status := ""
		if i := slices.IndexFunc(s.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool { return c.Type == kind }); i >= 0 {
			status = string(s.Conditions[i].Status)
		}
		if l.string(&status); l.reading && status != "" {
			s.Conditions = append(s.Conditions, autoscalingv2.HorizontalPodAutoscalerCondition{Type: kind, Status: corev1.ConditionStatus(status)})
		}
	}
}

func (l *ledger) cluster(c *replicas.Cluster) {
	l.string(&c.Name)
	reason, silent := "", c.Silent != nil
	if silent {
		reason = string(c.Silent.Reason)
	}
	l.bool(&silent)
	if l.string(&reason); l.reading && silent {
		c.Silent = &fleet.Silence{Reason: fleet.Reason(reason)}
	}
	l.bool(&c.Drained)
	l.optional(&c.Assigned)
	l.optional(&c.Replicas)
	l.string(&c.Selector)
	list(l, &c.Autoscalers, l.string)
}

func (l *ledger) metric(m *replicas.Metric) {
	l.error(&m.Err)
	l.coverage(&m.Coverage)
	if !present(l, &m.Told) {
		return
	}
	t := m.Told
	l.error(&t.Err)
	l.int(&t.Value)
	l.int(&t.Ready)
	l.bool(&t.ReadyUnknown)
	l.int32(&t.Running)
	l.bool(&t.Lagging)
	s := &t.Sums
	for _, n := range []*int{&s.Ignored, &s.Unready, &s.Missing, &s.Counted, &s.Strangers} {
		number(l, n)
	}
	for _, n := range []*int64{&s.Used, &s.StrangersUsed, &s.Requests, &s.UnreadyRequests, &s.MissingRequests, &s.Busy} {
		l.int(n)
	}
	list(l, &s.ByRequest, func(r *replicas.Requested) {
		l.int(&r.Request)
		l.bool(&r.Abandoned)
		number(l, &r.Pods)
	})
	l.counts(t)
}

// counts are nearly always of the question's clusters, in name order; then their names are not written again.
func (l *ledger) counts(t *replicas.Told) {
	usual := slices.EqualFunc(t.Clusters, l.names, func(c replicas.PodCount, name string) bool { return c.Cluster == name })
	l.bool(&usual)
	if usual && l.reading {
		t.Clusters = make([]replicas.PodCount, len(l.names))
		for i, name := range l.names {
			t.Clusters[i].Cluster = name
		}
	}
	count := func(c *replicas.PodCount) {
		if !usual {
			l.string(&c.Cluster)
		}
		for _, n := range []*int{&c.Ignored, &c.Unready, &c.Missing, &c.Counted} {
			number(l, n)
		}
		l.int(&c.Used)
		l.int(&c.Requests)
	}
	if !usual {
		list(l, &t.Clusters, count)
		return
	}
	for i := range t.Clusters {
		count(&t.Clusters[i])
	}
}

// coverage is nearly always of all clusters.
func (l *ledger) coverage(of **fleet.Coverage) {
	if !present(l, of) {
		return
	}
	c := *of
	usual := slices.Equal(c.Answered, l.names)
	if l.bool(&usual); !usual {
		list(l, &c.Answered, l.string)
	} else if l.reading {
		c.Answered = l.names
	}
	list(l, &c.Silent, func(s *fleet.SilentMember) {
		reason := string(s.Reason)
		l.string(&s.Cluster)
		l.string(&reason)
		s.Reason = fleet.Reason(reason)
	})
	list(l, &c.Covered, l.string)
	list(l, &c.Drained, l.string)
}

func (l *ledger) state(s *replicas.State) {
	asked := s.Recommendations != nil
	l.bool(&asked)
	list(l, &s.Recommendations, func(r *replicas.Recommendation) {
		l.int32(&r.Replicas)
		l.time(&r.At)
	})
	if l.reading && asked && s.Recommendations == nil {
		s.Recommendations = []replicas.Recommendation{}
	}
	for _, changes := range []*[]replicas.Change{&s.ScaleUps, &s.ScaleDowns} {
		list(l, changes, func(c *replicas.Change) {
			l.int32(&c.Replicas)
			l.bool(&c.Outdated)
			l.time(&c.At)
		})
	}
}

// sortedNames are those of the clusters, in the place of names.
func sortedNames(names []string, q *replicas.Question) []string {
	for i := range q.Clusters {
		names = append(names, q.Clusters[i].Name)
	}
	slices.Sort(names)
	return names
}

// int is one number; all else is made of it.
func (l *ledger) int(n *int64) {
	if !l.reading {
		l.numbers = append(l.numbers, *n)
		return
	}
	if *n = 0; l.err != nil {
		return
	}
	if l.at >= len(l.numbers) {
		l.err = errors.New("a record ends too early")
		return
	}
	*n = l.numbers[l.at]
	l.at++
}

func number[T ~int | ~int32 | ~int64](l *ledger, n *T) {
	wide := int64(*n)
	l.int(&wide)
	if *n = T(wide); int64(*n) != wide {
		l.err, *n = errors.Join(l.err, errDelta), 0
	}
}

func (l *ledger) int32(n *int32) { number(l, n) }

func (l *ledger) duration(d *time.Duration) { number(l, d) }

func (l *ledger) bool(b *bool) {
	n := int64(0)
	if *b {
		n = 1
	}
	l.int(&n)
	*b = n != 0
}

func (l *ledger) float(f *float64) {
	bits := int64(math.Float64bits(*f))
	l.int(&bits)
	*f = math.Float64frombits(uint64(bits))
}

// optional is one more than the number, if it is not negative, and 0 if there is none.
func (l *ledger) optional(of **int32) {
	n := int64(0)
	if *of != nil {
		if n = int64(**of); n >= 0 {
			n++
		}
	}
	if l.int(&n); !l.reading || n == 0 {
		return
	}
	if n > 0 {
		n--
	}
	v := int32(n)
	if *of = &v; int64(v) != n {
		l.err = errors.Join(l.err, errDelta)
	}
}

// time is in nanoseconds; 0 is none.
func (l *ledger) time(t *time.Time) {
	n := int64(0)
	if !t.IsZero() {
		n = t.UnixNano()
	}
	if l.int(&n); l.reading && n != 0 {
		*t = time.Unix(0, n).UTC()
	}
}

func (l *ledger) string(s *string) {
	n := int64(0)
	if !l.reading && *s != "" {
		n = l.number(*s)
	}
	if l.int(&n); !l.reading || n == 0 {
		return
	}
	text, known := l.text(n)
	if !known && l.err == nil {
		l.err = errors.New("a record has a text that was not written")
	}
	*s = text
}

// error is kept by its words.
func (l *ledger) error(err *error) {
	there, text := *err != nil, ""
	if there {
		if text = (*err).Error(); len(text) > longestText {
			text = strings.ToValidUTF8(text[:longestText], "") + "…"
		}
	}
	l.bool(&there)
	if l.string(&text); l.reading && there {
		*err = errors.New(text)
	}
}

// present goes over whether there is a value, and makes it when reading.
func present[T any](l *ledger, of **T) bool {
	there := *of != nil
	if l.bool(&there); l.reading && there {
		*of = new(T)
	}
	return there
}

// list goes over how many there are, and then over each. Each takes a number at least, so that no more are made than were written.
func list[T any](l *ledger, all *[]T, each func(*T)) { upTo(l, mostNumbers, all, each) }

// upTo is a list of so many at most.
func upTo[T any](l *ledger, most int, all *[]T, each func(*T)) {
	n := len(*all)
	if number(l, &n); l.reading && (n < 0 || n > min(most, len(l.numbers)-l.at)) {
		l.err, n = errors.Join(l.err, errDelta), 0
	}
	if l.reading && n > 0 {
		*all = make([]T, n)
	}
	for i := range *all {
		each(&(*all)[i])
	}
}
