// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"slices"
	"testing"
)

func TestInheritedEnvironment(t *testing.T) {
	environment := []string{"HOME=/home", "HOMER=x", "PATH=/bin", "AWS_PROFILE=a=b", "KUBERNETES_EXEC_INFO={}", "TOKEN=s3cret", "=x"}
	before := slices.Clone(environment)
	if got, want := inherited(environment), []string{"HOME=/home", "PATH=/bin"}; !slices.Equal(got, want) {
		t.Errorf("it is %q, want %q", got, want)
	}
	if !slices.Equal(environment, before) {
		t.Errorf("the environment is now %q", environment)
	}
}
