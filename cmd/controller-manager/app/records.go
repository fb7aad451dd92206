// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/recording/recordstore"
)

// RecordOptions are of the record of decisions.
type RecordOptions struct {
	// Dir is where it is kept; empty: in memory.
	Dir string
	// Max are its bytes, as a quantity.
	Max  string
	Days int
	// BindAddress and Port are where it is served.
	BindAddress string
	Port        int
}

func newRecordOptions() RecordOptions {
	return RecordOptions{Max: "32Mi", Days: 7, Port: 8444}
}

func (o *RecordOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("record of decisions")
	fs.StringVar(&o.Dir, "record-dir", o.Dir, "Directory in which the decisions of FederatedHPAs and MultidimPodAutoscalers are recorded, "+
		"for kubectl fleetscale replay. Empty: in memory, where a restart begins again. Each replica needs a directory of its own, or one "+
		"that all can write.")
	fs.StringVar(&o.Max, "record-max", o.Max, "Size of that record, such as 256Mi, beyond which the oldest decisions go. "+
		"0: nothing is recorded.")
	fs.IntVar(&o.Days, "record-days", o.Days, "After how many days decisions go from that record.")
	fs.StringVar(&o.BindAddress, "record-bind-address", o.BindAddress, "IP address of this Pod, at which the leader serves that record to "+
		"the metrics adapter, which it tells the address on the hub; with --shards each replica does. Each of them shows the certificate that "+
		"is kept in the Secret "+recordstore.Secret+" of --identities-namespace. Empty: the record is not served. With --observe it is at "+
		"--observations-bind-address.")
	fs.IntVar(&o.Port, "record-port", o.Port, "Port of --record-bind-address.")
}

// most is what a record may be at most: it is read whole.
const mostRecord = 64 << 30

func (o *RecordOptions) most() (int64, error) {
	q, err := resource.ParseQuantity(o.Max)
	if len(o.Max) > 20 || err != nil {
		return 0, fmt.Errorf("must be a size such as 256Mi, or 0, got %q", o.Max)
	}
	if n := q.Value(); n == 0 || n >= 1<<20 && n <= mostRecord {
		return n, nil
	}
	return 0, fmt.Errorf("must be 0, or from 1Mi to 64Gi, got %q", o.Max)
}

func (o *RecordOptions) validate() error {
	_, err := o.most()
	if err != nil {
		err = fmt.Errorf("--record-max: %w", err)
	}
	address := error(nil)
	if ip, err := netip.ParseAddr(o.BindAddress); o.BindAddress != "" && (err != nil || ip.IsUnspecified()) {
		address = errors.New("--record-bind-address: must be the IP address at which others reach this Pod, or empty; got " + o.BindAddress)
	}
	return errors.Join(err, command.When(o.Days < 1, "--record-days: must be 1 or more, got %d", o.Days), address,
		command.When(o.Port < 1 || o.Port > math.MaxUint16, "--record-port: must be from 1 to 65535, got %d", o.Port))
}

// address is where the record is served; empty: it is not, or there is none.
func (o *RecordOptions) address() string {
	ip, err := netip.ParseAddr(o.BindAddress)
	if most, wrong := o.most(); err != nil || wrong != nil || most == 0 {
		return ""
	}
	return netip.AddrPortFrom(ip, uint16(o.Port)).String()
}

// addRecords returns what keeps the record of decisions; nil: nothing is recorded. The leader serves it, or, if there are others, each
// replica its own. Where is served; nil: nowhere.
func addRecords(manager ctrl.Manager, told *recordstore.Metrics, others func() []string, o *Options) (
	store *recordstore.Store, where func() []string, err error) {
	most, err := o.Records.most()
	if err != nil || most == 0 {
		return nil, nil, err
	}
	store = recordstore.New(recordstore.Options{
		Dir: o.Records.Dir, Most: most, Age: time.Duration(o.Records.Days) * 24 * time.Hour, Clock: clock.RealClock{}, Metrics: told,
	})
	if err := manager.Add(everywhere(store.Run)); err != nil {
		return nil, nil, err
	}
	own := o.Records.address()
	if own == "" || o.Observing.Observe {
		return store, nil, nil
	}
	if others == nil {
		return store, func() []string { return []string{own} }, serveRecords(manager, store, byLeader, o)
	}
	return store, func() []string { return append([]string{own}, others()...) }, serveRecords(manager, store, byAll, o)
}

// serveRecords has the record served to the metrics adapter, and the certificate kept that both of them show.
func serveRecords(manager ctrl.Manager, store *recordstore.Store, by runner, o *Options) error {
	hub, err := kubernetes.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("preparing to serve the record of decisions: %w", err)
	}
	settings := certs.NewSettings(recordstore.Secret)
	settings.CheckPeriod = time.Minute // who asks reads the Secret, too: nobody has to be told of a change in time
	keeper := certs.New(certs.Options{
		Core: hub, Service: types.NamespacedName{Namespace: o.Members.IdentitiesNamespace, Name: recordstore.Service}, Mutual: true,
		Settings: settings,
	})
	if err := manager.Add(by(func(ctx context.Context) error { keeper.Run(ctx); return nil })); err != nil {
		return err
	}
	return manager.Add(by(func(ctx context.Context) error { return store.Serve(ctx, o.Records.address(), keeper.Server()) }))
}
