// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/fleetscale/fleetscale/pkg/grants"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

const (
	reviewsPath = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	// mostReviews bounds the requests about rights of one inspection, and reviewsAtOnce those under way. Where more rights are needed, as
	// in many namespaces, the next inspection continues with the others.
	mostReviews   = 128
	reviewsAtOnce = 4
)

// reviews are what a member has answered about rights.
type reviews struct {
	denied map[grants.Right]bool // a right that is not known has no entry
	next   int                   // the right with which the next inspection begins
}

// ask asks for some of the rights, until timeout. The first failure ends it: a cluster that does not answer about one right is not asked
// about the others, and what it said before stands.
func (v *reviews) ask(ctx context.Context, conn *connection.Connection, needs []grants.Right, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	asked := turn(needs, v.next, mostReviews)
	answers := make([]*bool, len(asked))
	var taken atomic.Int64
	var under sync.WaitGroup
	for range min(reviewsAtOnce, len(asked)) {
		under.Go(func() {
			for ctx.Err() == nil {
				i := int(taken.Add(1)) - 1
				if i >= len(asked) {
					return
				}
				allowed, err := review(ctx, conn, asked[i])
				if err != nil {
					cancel()
					return
				}
				answers[i] = &allowed
			}
		})
	}
	under.Wait()
	v.file(asked, answers)
	v.next = (v.next + min(int(taken.Load()), len(asked))) % len(needs)
}

// turn are so many of the rights, from one on, and around.
func turn(needs []grants.Right, from, most int) []grants.Right {
	all := make([]grants.Right, 0, min(most, len(needs)))
	for i := range min(most, len(needs)) {
		all = append(all, needs[(from+i)%len(needs)])
	}
	return all
}

// file keeps what was answered; nil: nothing was.
func (v *reviews) file(asked []grants.Right, allowed []*bool) {
	if v.denied == nil {
		v.denied = map[grants.Right]bool{}
	}
	for i, right := range asked {
		if allowed[i] != nil {
			v.denied[right] = !*allowed[i]
		}
	}
}

// missing are the rights that are denied, as people are told of them.
func (v *reviews) missing(needs []grants.Right) (texts []string) {
	for _, right := range needs {
		if v.denied[right] {
			texts = append(texts, right.String())
		}
	}
	return grants.Few(texts, grants.MostTexts)
}

// review asks the cluster whether the identity of the connection has a right. Every identity that is authenticated may ask for its own.
func review(ctx context.Context, c *connection.Connection, right grants.Right) (allowed bool, err error) {
	question := authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: right.Attributes()}
	body, err := json.Marshal(map[string]any{
		"apiVersion": authorizationv1.SchemeGroupVersion.String(), "kind": "SelfSubjectAccessReview", "spec": question,
	})
	if err != nil {
		return false, fmt.Errorf("asking for the right to %s: %w", right, err)
	}
	var told authorizationv1.SelfSubjectAccessReview
	request := c.Client().Post().AbsPath(reviewsPath).SetHeader("Content-Type", "application/json").Body(body)
	if err := request.MaxRetries(0).Do(ctx).Into(&told); err != nil {
		return false, fmt.Errorf("asking for the right to %s: %w", right, err)
	}
	// What answers everything with the same, as a page of a proxy, has not answered this.
	if !apiequality.Semantic.DeepEqual(told.Spec, question) {
		return false, fmt.Errorf("asking for the right to %s: the answer is to another question", right)
	}
	return told.Status.Allowed, nil
}
