// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/compact"
	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
)

// nodeRecord is what is kept of a node.
type nodeRecord struct{ node fit.Node }

var _ mirror.Object = (*nodeRecord)(nil)

func (r *nodeRecord) Key() mirror.Key { return mirror.Key{Name: r.node.Name.Value()} }

func (r *nodeRecord) Bytes() int64 { return compact.Bytes(*r) }

// quotaRecord is what is kept of a ResourceQuota.
type quotaRecord struct{ quota corev1.ResourceQuota }

var _ mirror.Object = (*quotaRecord)(nil)

func newQuotaRecord(q *corev1.ResourceQuota) *quotaRecord {
	return &quotaRecord{corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: q.Namespace, Name: q.Name},
		Spec:       q.Spec,
		Status:     q.Status,
	}}
}

func (r *quotaRecord) Key() mirror.Key {
	return mirror.Key{Namespace: r.quota.Namespace, Name: r.quota.Name}
}

func (r *quotaRecord) Bytes() int64 { return compact.Bytes(*r) }

// limitRecord is what is kept of a LimitRange.
type limitRecord struct {
	key   mirror.Key
	items []corev1.LimitRangeItem
}

var _ mirror.Object = (*limitRecord)(nil)

func newLimitRecord(l *corev1.LimitRange) *limitRecord {
	return &limitRecord{mirror.Key{Namespace: l.Namespace, Name: l.Name}, l.Spec.Limits}
}

func (r *limitRecord) Key() mirror.Key { return r.key }

func (r *limitRecord) Bytes() int64 { return compact.Bytes(*r) }
