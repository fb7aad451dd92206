// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// What is read from a cache must be listed and watched, for which a scheme must
// know more than the kind.
func TestKindsCanBeListed(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, version := range []schema.GroupVersion{{Group: "work.karmada.io", Version: "v1alpha2"}, v1alpha1.SchemeGroupVersion} {
		if _, err := runtime.NewParameterCodec(scheme).EncodeParameters(&metav1.ListOptions{Watch: true}, version); err != nil {
			t.Errorf("%v: %v", version, err)
		}
	}
}
