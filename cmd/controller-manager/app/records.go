// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/central"
	"github.com/fleetscale/fleetscale/pkg/recording/recordstore"
)

// RecordOptions are of the record of decisions.
type RecordOptions struct {
	// Dir is where it is kept; empty: in memory.
	Dir string
	// Max are its bytes, as a quantity.
	Max  string
	Days int
	// BindAddress is where it is served.
	BindAddress string
}

func newRecordOptions() RecordOptions {
	return RecordOptions{Max: "32Mi", Days: 7, BindAddress: command.NoAddress}
}

func (o *RecordOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("record of decisions")
	fs.StringVar(&o.Dir, "record-dir", o.Dir, "Directory in which the decisions of FederatedHPAs in central mode are recorded, for kubectl "+
		"fleetscale replay. Empty: in memory, where a restart begins again. Each replica needs a directory of its own, or one that all can "+
		"write.")
	fs.StringVar(&o.Max, "record-max", o.Max, "Size of that record, such as 256Mi, beyond which the oldest decisions go. "+
		"0: nothing is recorded.")
	fs.IntVar(&o.Days, "record-days", o.Days, "After how many days decisions go from that record.")
	fs.StringVar(&o.BindAddress, "record-bind-address", o.BindAddress, "Loopback address, such as 127.0.0.1:8083, on which that record is "+
		"served over plain HTTP, to whoever runs beside: for kubectl fleetscale record. 0 disables it.")
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
	return errors.Join(err, command.When(o.Days < 1, "--record-days: must be 1 or more, got %d", o.Days),
		command.ValidateLoopback("--record-bind-address", "127.0.0.1:8083", o.BindAddress))
}

// addRecords returns what keeps the record of decisions; nil: nothing is recorded. It is served by every replica, for what a former leader
// wrote is still there.
func addRecords(manager ctrl.Manager, told *recordstore.Metrics, o *RecordOptions) (central.Records, error) {
	most, err := o.most()
	if err != nil || most == 0 {
		return nil, err
	}
	store := recordstore.New(recordstore.Options{
		Dir: o.Dir, Most: most, Age: time.Duration(o.Days) * 24 * time.Hour, Clock: clock.RealClock{}, Metrics: told,
	})
	if err := manager.Add(everywhere(store.Run)); err != nil {
		return nil, err
	}
	return store, addLoopback(manager, "the record of decisions", o.BindAddress, store.Handler(), 2*time.Minute)
}
