// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"
)

// Authorities returns those that verify what is served with the certificate in a Secret of a [Keeper], as PEM.
func Authorities(ctx context.Context, core kubernetes.Interface, secret types.NamespacedName) ([]byte, error) {
	found, err := core.CoreV1().Secrets(secret.Namespace).Get(ctx, secret.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("getting Secret %s: %w", secret, err)
	}
	return authoritiesOf(found, secret)
}

func authoritiesOf(secret *corev1.Secret, name types.NamespacedName) ([]byte, error) {
	bundle := secret.Data[keyBundle]
	if len(bundle) == 0 {
		return nil, errors.New("Secret " + name.String() + " holds no authority yet: no replica has signed a certificate")
	}
	if _, err := cert.ParseCertsPEM(bundle); err != nil {
		return nil, fmt.Errorf("reading %s of Secret %s: %w", keyBundle, name, err)
	}
	return bundle, nil
}
