// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// credentialWatch follows the one Secret that a Cluster refers to.
type credentialWatch struct {
	*follower

	ref  karmadaSecretRef
	stop context.CancelFunc
}

// credentialsOf is what is known of the Cluster's Secret. It is followed from
// now on, in place of another that the Cluster referred to before.
func (k *karmadaSource) credentialsOf(ctx context.Context, c *karmadaCluster) credentials {
	ref := c.Spec.SecretRef
	if ref == nil || ref.Name == "" || ref.Namespace == "" || c.Spec.SyncMode == "Pull" {
		k.unfollow(c.Name)
		return credentials{}
	}
	watch := k.credentials[c.Name]
	if watch == nil || watch.ref != *ref {
		k.unfollow(c.Name)
		watch = k.followSecret(ctx, c.Name, *ref)
		k.credentials[c.Name] = watch
	}
	if !watch.shelf.isSynced() {
		return credentials{awaiting: watch.why(fmt.Sprintf("Secret %s/%s, which spec.secretRef names, could not be read yet", ref.Namespace, ref.Name))}
	}
	object, _ := watch.shelf.get(ref.Name)
	secret, _ := object.(*corev1.Secret)
	return credentials{secret: secret}
}

func (k *karmadaSource) followSecret(ctx context.Context, cluster string, ref karmadaSecretRef) *credentialWatch {
	q := askSecrets(k.options.Hub, ref.Namespace, func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, ref.Name).String()
	})
	again := func() { k.enqueue(key{fromKarmada, cluster}) }
	ctx, stop := context.WithCancel(ctx)
	f := follow(ctx, k.running, "credentials of a Karmada Cluster", q, following{
		changed: func(string) { again() }, synced: again, failed: again,
	})
	return &credentialWatch{follower: f, ref: ref, stop: stop}
}

func (k *karmadaSource) unfollow(cluster string) {
	if watch := k.credentials[cluster]; watch != nil {
		watch.stop()
		delete(k.credentials, cluster)
	}
}
