#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints a kubeconfig with the token of a ServiceAccount. It holds a credential: send it where it belongs, to no terminal.
set -eu

usage='usage: [SERVER=https://...] kubeconfig.sh NAMESPACE/SECRET [kubectl flag]...

  NAMESPACE/SECRET  a Secret of type kubernetes.io/service-account-token
  kubectl flags     which cluster to ask, for example --context east
  SERVER            address at which fleetscale reaches that cluster; otherwise the one that kubectl uses'

case ${1-} in
?*/?*) ;;
*) printf '%s\n' "$usage" >&2; exit 2 ;;
esac
namespace=${1%%/*}
secret=${1#*/}
shift

server=${SERVER:-$(kubectl "$@" config view --minify -o 'jsonpath={.clusters[0].cluster.server}')}
case $server in
*://127.* | *://localhost* | *://\[::1\]*) printf 'warning: %s leads back to whoever asks; give another address in SERVER\n' "$server" >&2 ;;
esac

# The cluster writes the token into the Secret a moment after the Secret was made.
tries=0
token=
while [ -z "$token" ]; do
	if [ "$tries" -ge 30 ]; then
		printf 'Secret %s/%s got no token in 30 s: does the cluster issue tokens for Secrets?\n' "$namespace" "$secret" >&2
		exit 1
	fi
	[ "$tries" -eq 0 ] || sleep 1
	tries=$((tries + 1))
	token=$(kubectl "$@" -n "$namespace" get secret "$secret" -o 'jsonpath={.data.token}')
done

exec kubectl "$@" -n "$namespace" get secret "$secret" -o "go-template=apiVersion: v1
kind: Config
current-context: fleetscale
contexts:
- name: fleetscale
  context: {cluster: cluster, user: $secret}
clusters:
- name: cluster
  cluster:
    server: $server
    certificate-authority-data: {{index .data \"ca.crt\"}}
users:
- name: $secret
  user:
    token: {{.data.token | base64decode}}
"
