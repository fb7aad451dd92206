// SPDX-License-Identifier: Apache-2.0

package central

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
)

// undone returns who would undo what is written, where others bring the workload to the clusters. The workload on the hub says so;
// where it may not be read, that is not known, and it is written.
func (m *Mode) undone(ctx context.Context, in *situation) (sight.Undone, error) {
	if !in.Rule.ByOthers() {
		return sight.Undone{}, nil
	}
	onHub, err := sight.OnHub(ctx, m.Live, in.Object)
	if apierrors.IsForbidden(err) {
		return sight.Undone{}, nil
	}
	if err != nil {
		return sight.Undone{}, err
	}
	return in.Undone(onHub, in.inMembers), nil
}
