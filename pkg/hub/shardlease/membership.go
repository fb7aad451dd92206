// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// membership is the Lease by which others know that this replica is alive. It is written by one goroutine.
type membership struct {
	options *Options
	lease   *coordinationv1.Lease // as it was written last; nil: not known
	renewed time.Time
}

// renew renews it, unless it was just renewed.
func (m *membership) renew(ctx context.Context) error {
	now := time.Now()
	if m.lease != nil && now.Sub(m.renewed) < m.options.RetryPeriod {
		return nil
	}
	written, err := m.write(ctx, coordinationv1.LeaseSpec{
		HolderIdentity: &m.options.ID, LeaseDurationSeconds: new(int32(m.options.LeaseDuration / time.Second)),
		RenewTime: &metav1.MicroTime{Time: now},
	})
	if err != nil {
		m.lease = nil // so it is read again
		return err
	}
	m.lease, m.renewed = written, now
	return nil
}

func (m *membership) write(ctx context.Context, spec coordinationv1.LeaseSpec) (*coordinationv1.Lease, error) {
	leases, name := m.options.Leases.Leases(m.options.Namespace), m.options.replicaLease()
	lease := m.lease
	if lease == nil {
		found, err := leases.Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
				Name: name, Annotations: m.options.Annotations,
			}, Spec: spec}, metav1.CreateOptions{})
		case err != nil:
			return nil, err
		}
		lease = found
	}
	lease = lease.DeepCopy()
	lease.Spec = spec
	return leases.Update(ctx, lease, metav1.UpdateOptions{})
}

// leave deletes it.
func (m *membership) leave(ctx context.Context) error { return m.remove(ctx, m.options.replicaLease()) }

// remove deletes the Lease of a replica that is gone.
func (m *membership) remove(ctx context.Context, lease string) error {
	err := m.options.Leases.Leases(m.options.Namespace).Delete(ctx, lease, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
