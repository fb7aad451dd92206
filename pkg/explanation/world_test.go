// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"math/rand/v2"

	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/replicas/replicastest"
)

var start = replicastest.Start

func randomQuestion(r *rand.Rand) replicas.Question { return replicastest.Question(r) }

// decided is the decision on a question.
func decided(q replicas.Question) *Decided {
	d := replicas.Decide(q)
	return &Decided{Spec: &q.Spec, At: q.Now, Current: q.Scale.Replicas, Replicas: d.Replicas, Copies: q.Copies, Explanation: d.Explanation}
}
