// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// judge answers one kind of question.
type judge interface {
	judge(ctx context.Context, request admission.Request) verdict
}

// observed counts what a judge answers. That the program survives its bugs controller-runtime sees to.
type observed struct {
	judge
	webhook, kind string
	metrics       *Metrics
}

// Handle makes it a webhook of controller-runtime.
func (o observed) Handle(ctx context.Context, request admission.Request) admission.Response {
	begin := time.Now()
	v := o.judge.judge(ctx, request)
	o.metrics.answered(asked{o.webhook, o.kind, operation(request)}, v, time.Since(begin))
	return v.Response
}

// operation is one of four, whatever was sent.
func operation(request admission.Request) string {
	known := []admissionv1.Operation{admissionv1.Create, admissionv1.Update, admissionv1.Delete, admissionv1.Connect}
	if !slices.Contains(known, request.Operation) {
		return ""
	}
	return string(request.Operation)
}
