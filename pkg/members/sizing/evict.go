// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"
	"encoding/json"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Evict implements [Sizer].
func (s sizer) Evict(ctx context.Context, namespace string, pod PodRef) error {
	body, err := json.Marshal(&policyv1.Eviction{
		TypeMeta:      metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "Eviction"},
		ObjectMeta:    metav1.ObjectMeta{Namespace: namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	})
	if err != nil {
		return fmt.Errorf("evicting Pod %q: %w", pod.Name, err)
	}
	request := podAt(s.Client().Post(), namespace, pod, "eviction").SetHeader("Content-Type", "application/json").Body(body)
	return s.change(ctx, request, "evicting", pod, "create pods/eviction")
}
