package fleetscale

import (
	_ "github.com/cockroachdb/datadriven"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/prometheus/client_golang/prometheus/testutil"
	_ "github.com/prometheus/client_golang/prometheus/testutil/promlint"
	_ "golang.org/x/sync/semaphore"
	_ "golang.org/x/sync/singleflight"
	_ "golang.org/x/sync/errgroup"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apiserver/pkg/server/options"
	_ "k8s.io/client-go/dynamic/dynamicinformer"
	_ "k8s.io/client-go/kubernetes/fake"
	_ "k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	_ "k8s.io/kube-openapi/pkg/common"
	_ "k8s.io/metrics/pkg/apis/metrics/install"
	_ "k8s.io/utils/clock/testing"
	_ "sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver/metrics"
	_ "sigs.k8s.io/yaml"
)
