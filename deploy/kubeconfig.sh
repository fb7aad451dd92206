#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints a kubeconfig with a token of a ServiceAccount. It holds a credential: send it where it belongs, to no terminal.
set -eu

usage='usage: [SERVER=https://...] [DURATION=720h] kubeconfig.sh NAMESPACE/SERVICEACCOUNT [kubectl flag]...

  kubectl flags  which cluster to ask, for example --context east
  SERVER         address at which fleetscale reaches that cluster; otherwise the one that kubectl uses
  DURATION       how long the token lasts (720h), unless the cluster allows less. In a registration of a member with the accounts of
                 deploy/member-write the controller-manager renews it at two thirds of that
  SECRET         name of a Secret of type kubernetes.io/service-account-token, whose token is used, and lasts as long as that Secret: for
                 what nobody renews'

case ${1-} in
?*/?*) ;;
*) printf '%s\n' "$usage" >&2; exit 2 ;;
esac
namespace=${1%%/*}
account=${1#*/}
shift

server=${SERVER:-$(kubectl "$@" config view --minify -o 'jsonpath={.clusters[0].cluster.server}')}
case $server in
*://127.* | *://localhost* | *://\[::1\]*) printf 'warning: %s leads back to whoever asks; give another address in SERVER\n' "$server" >&2 ;;
esac

# The cluster writes some things a moment after what they are for was made.
await() {
	tries=0
	value=
	while value=$(kubectl "$@") && [ -z "$value" ]; do
		if [ "$tries" -ge 30 ]; then
			return 1
		fi
		tries=$((tries + 1))
		sleep 1
	done
	[ -n "$value" ]
}

if [ -n "${SECRET-}" ]; then
	if ! await "$@" -n "$namespace" get secret "$SECRET" -o 'go-template={{with .data.token}}{{. | base64decode}}{{end}}'; then
		printf 'Secret %s/%s got no token in 30 s: does the cluster issue tokens for Secrets?\n' "$namespace" "$SECRET" >&2
		exit 1
	fi
	token=$value
	authority=$(kubectl "$@" -n "$namespace" get secret "$SECRET" -o 'jsonpath={.data.ca\.crt}')
else
	if ! await "$@" -n "$namespace" get configmap --ignore-not-found kube-root-ca.crt -o 'go-template={{index .data "ca.crt"}}'; then
		printf 'ConfigMap %s/kube-root-ca.crt, with the certificate authority, did not appear in 30 s\n' "$namespace" >&2
		exit 1
	fi
	authority=$(printf '%s\n' "$value" | base64 | tr -d '\n')
	token=$(kubectl "$@" -n "$namespace" create token "$account" --duration="${DURATION:-720h}")
fi

cat <<END
apiVersion: v1
kind: Config
current-context: fleetscale
contexts:
- name: fleetscale
  context: {cluster: cluster, user: $account}
clusters:
- name: cluster
  cluster:
    server: $server
    certificate-authority-data: $authority
users:
- name: $account
  user:
    token: $token
END
