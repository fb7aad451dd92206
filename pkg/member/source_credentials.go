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
		var err error
		if watch, err = k.followSecret(ctx, c.Name, *ref); err != nil {
			return credentials{awaiting: err.Error()}
		}
		k.credentials[c.Name] = watch
	}
	if !watch.synced.Load() {
		return credentials{awaiting: watch.why(fmt.Sprintf("Secret %s/%s, which spec.secretRef names, could not be read yet", ref.Namespace, ref.Name))}
	}
	object, _ := watch.get(ref.Namespace + "/" + ref.Name)
	secret, _ := object.(*corev1.Secret)
	return credentials{secret: secret}
}

func (k *karmadaSource) followSecret(ctx context.Context, cluster string, ref karmadaSecretRef) (*credentialWatch, error) {
	informer, err := secretInformer(k.options.Hub, ref.Namespace, func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, ref.Name).String()
	})
	if err != nil {
		return nil, err
	}
	again := func() { k.enqueue(key{fromKarmada, cluster}) }
	ctx, stop := context.WithCancel(ctx)
	f, err := follow(ctx, k.running, informer, following{
		changed: func(string) { again() }, synced: again, failed: again,
	})
	if err != nil {
		stop()
		return nil, err
	}
	return &credentialWatch{follower: f, ref: ref, stop: stop}, nil
}

func (k *karmadaSource) unfollow(cluster string) {
	if watch := k.credentials[cluster]; watch != nil {
		watch.stop()
		delete(k.credentials, cluster)
	}
}
