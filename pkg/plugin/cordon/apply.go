// SPDX-License-Identifier: Apache-2.0

package cordon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/fleetscale/fleetscale/pkg/taints"
)

// Apply acts on the registrations of a member, and says so. dryRun is that of the API: nil or All.
func (h Hub) Apply(ctx context.Context, member string, act Act, dryRun []string, out io.Writer) error {
	registrations, err := h.find(ctx, member)
	if err != nil {
		return fmt.Errorf("finding what registers %s: %w", member, err)
	}
	if len(registrations) == 0 {
		return fmt.Errorf("no Secret of namespace %s and no Karmada Cluster registers %s. If another source does, annotate its object:\n  %s",
			h.Namespace, member, strings.Join(Commands(member, act), "\n  "))
	}
	var errs []error
	for _, r := range registrations {
		done, err := h.apply(ctx, r, act, metav1.PatchOptions{DryRun: dryRun})
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r, err))
			continue
		}
		if dryRun != nil {
			done += " (server dry run)"
		}
		fmt.Fprintf(out, "%s: %s: %s\n", member, r, done)
	}
	return errors.Join(errs...)
}

// apply patches what was read: who came between makes it be read again.
func (h Hub) apply(ctx context.Context, r found, act Act, o metav1.PatchOptions) (done string, err error) {
	err = retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		if r.cluster != nil {
			done, err = h.taint(ctx, r.cluster.GetName(), act, o)
		} else {
			done, err = h.annotate(ctx, r.secret.Name, act, o)
		}
		return err
	})
	return done, err
}

func (h Hub) annotate(ctx context.Context, name string, act Act, o metav1.PatchOptions) (done string, err error) {
	client := h.Metadata.Resource(secrets()).Namespace(h.Namespace)
	secret, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	change := annotated(secret.Annotations, act)
	if len(change) == 0 {
		return unchanged(act), nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": secret.ResourceVersion, "annotations": change}})
	if err == nil {
		_, err = client.Patch(ctx, name, types.MergePatchType, patch, o)
	}
	return did(act), err
}

func (h Hub) taint(ctx context.Context, name string, act Act, o metav1.PatchOptions) (done string, err error) {
	client := h.Dynamic.Resource(karmadaClusters())
	cluster, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	now, err := taintsOf(cluster)
	if err != nil {
		return "", err
	}
	after, tainted := tainted(now, act)
	metadata := map[string]any{"resourceVersion": cluster.GetResourceVersion()}
	patch := map[string]any{"metadata": metadata}
	if tainted {
		patch["spec"] = map[string]any{"taints": after}
	}
	var gone map[string]any
	if act == Uncordon { // the annotations mean the same on a Cluster, whoever set them
		gone = annotated(cluster.GetAnnotations(), act)
		metadata["annotations"] = gone
	}
	if !tainted && len(gone) == 0 {
		return unchanged(act) + others(after, act), nil
	}
	text, err := json.Marshal(patch)
	if err == nil {
		_, err = client.Patch(ctx, name, types.MergePatchType, text, o)
	}
	return did(act) + others(after, act), err
}

func taintsOf(cluster *unstructured.Unstructured) ([]corev1.Taint, error) {
	var read struct {
		Spec struct {
			Taints []corev1.Taint `json:"taints"`
		} `json:"spec"`
	}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(cluster.Object, &read)
	return read.Spec.Taints, err
}

// others says which taints go on cordoning or draining a cluster that is uncordoned.
func others(left []corev1.Taint, act Act) string {
	if verdict := taints.Judge(left, nil); act == Uncordon && verdict.Standing != taints.Free {
		return "; but " + verdict.Message() + ", which others set"
	}
	return ""
}

func did(act Act) string {
	return map[Act]string{Cordon: "cordoned: it gets no more", Drain: "drained: others take its part over", Uncordon: "uncordoned"}[act]
}

func unchanged(act Act) string {
	return "unchanged: " + map[Act]string{
		Cordon: "it is cordoned already", Drain: "it is drained already", Uncordon: "it is neither cordoned nor drained by this command",
	}[act]
}
