// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"cmp"
	"runtime/debug"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/guard"
	"github.com/fleetscale/fleetscale/pkg/members/ratelimit"
)

// Options say how clusters are asked.
type Options struct {
	// UserAgent of every request.
	UserAgent string
	// QPS and Burst limit the callers' requests to each cluster (50, 100). Classes of requests ([ratelimit.Class]) have
	// shares of both.
	QPS   float32
	Burst int
	// Part is how much of QPS this process may use ([ratelimit.Limiter]); nil: all.
	Part func() float64
	// MaxAnswer bounds the bytes of each answer after decompression (128 MiB), and
	// those of each event of a watch, which are 16 MiB at most. Of little memory
	// (debug.SetMemoryLimit) less is available.
	MaxAnswer int64
	// MaxKept bounds what is kept of all clusters between their answers, as [Reading.Keep] counts it, in bytes (a third of
	// debug.SetMemoryLimit, or 1 GiB without one). Of one cluster, half of that is.
	MaxKept int64
	// Timeout bounds every request (5 s), and then the time in which its answer is decoded.
	Timeout time.Duration
	// AllowLocal lets members, and their proxies, be at addresses of this machine and of its link.
	AllowLocal bool
	// ReadOnly sends nothing that would change a cluster.
	ReadOnly bool

	budget  *budget // of all that have these options
	kept    *budget // the same, for what is kept
	plugins *plugins
}

// DefaultMaxAnswer is that of [Options.MaxAnswer]: a list of 200 000 PodMetrics, and more.
const DefaultMaxAnswer = 128 << 20

// WithDefaults gives what is zero its default.
func (o Options) WithDefaults() Options {
	o.UserAgent = cmp.Or(o.UserAgent, rest.DefaultKubernetesUserAgent())
	o.QPS = cmp.Or(o.QPS, 50)
	o.Burst = cmp.Or(o.Burst, 100)
	o.MaxAnswer = cmp.Or(o.MaxAnswer, DefaultMaxAnswer)
	o.MaxKept = cmp.Or(o.MaxKept, keptOf(debug.SetMemoryLimit(-1)))
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	if o.budget == nil {
		o.budget = newBudget(debug.SetMemoryLimit(-1), o.MaxAnswer)
	}
	if o.kept == nil {
		o.kept = budgetOf(o.MaxKept)
	}
	if o.plugins == nil {
		o.plugins = &plugins{places: map[string]chan struct{}{}}
	}
	return o
}

// answers are the kinds that answers are made of: those of Kubernetes, and of others as much as is read of them. They are the same for all
// clusters, and to learn them takes as long as to ask many, so that it is done once.
var answers = sync.OnceValue(func() kinds {
	known := runtime.NewScheme()
	metav1.AddToGroupVersion(known, schema.GroupVersion{Version: "v1"}) // a refusal, and an event of a watch
	utilruntime.Must(scheme.AddToScheme(known))
	utilruntime.Must(vpa.AddToScheme(known))
	utilruntime.Must(v1alpha1.AddToScheme(known))
	return kinds{guard.SchemeOf(known), serializer.NewCodecFactory(known).WithoutConversion()}
})

// Peer is one cluster, as all connections to it know it.
type Peer struct {
	options Options
	meter   meter
	limiter *ratelimit.Limiter
	reading *Reading
	onFail  func(fleet.Reason)
}

// NewPeer is for the cluster of that name. The options are those of
// [Options.WithDefaults]; peers of the same ones share their memory. onFail is called for each request that fails,
// onMisconduct with the last offence when the cluster sent too many of them within some minutes. Neither must block;
// metrics and onMisconduct may be nil.
func NewPeer(name string, o Options, metrics *Metrics, onFail func(fleet.Reason), onMisconduct func(*fleet.Silence)) *Peer {
	p := &Peer{
		options: o,
		meter:   meter{cluster: name, metrics: metrics},
		limiter: newLimiter(&o),
		reading: NewReading(),
		onFail:  onFail,
	}
	p.reading.intake = &intake{meter: &p.meter, account: o.budget.account(), onMisconduct: onMisconduct}
	p.reading.kept = o.kept.account()
	return p
}

func newLimiter(o *Options) *ratelimit.Limiter {
	l := ratelimit.New(o.QPS, o.Burst, o.Timeout)
	l.Part = o.Part
	return l
}

// Reading decodes what was asked for as bytes; the clients use it for what they decode themselves.
func (p *Peer) Reading() *Reading { return p.reading }

// LastSuccess returns when the cluster last answered any request; zero if never.
func (p *Peer) LastSuccess() time.Time { return p.meter.lastSuccess() }

// Close ends the counting and deletes the cluster's series.
func (p *Peer) Close() { p.meter.close() }
