// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

// Settings configure a self-signed certificate.
type Settings struct {
	// Secret is its name, in the namespace of the Service. It must exist, and may
	// be empty.
	Secret string
	// Validity is that of a new certificate. It is replaced when a third of that
	// is left. Certificates count in seconds.
	Validity time.Duration
	// SettleTime is how long all targets must have had an authority before a
	// certificate of it is served: longer than an API server takes to see a
	// change of the targets, and than a scraper takes to see one of the Secret.
	SettleTime time.Duration
	// CheckPeriod is the interval between checks of the hub.
	CheckPeriod time.Duration
}

// NewSettings returns the defaults. An API server sees a change in seconds; to a scraper it comes by the operator that reads the Secret
// and the kubelet that mounts what that makes of it, each of which may take a minute or two.
func NewSettings(secret string) Settings {
	return Settings{Secret: secret, Validity: 90 * 24 * time.Hour, SettleTime: 10 * time.Minute, CheckPeriod: 10 * time.Second}
}

// AddFlags binds the settings to flags.
func (s *Settings) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&s.Secret, "self-signed-secret", s.Secret,
		"Secret in --service-namespace of the hub that holds the certificate shared by all replicas. It must exist, and may be empty.")
	fs.DurationVar(&s.Validity, "self-signed-validity", s.Validity,
		"Validity of a new certificate. It is replaced when a third of that is left.")
	fs.DurationVar(&s.SettleTime, "self-signed-settle-time", s.SettleTime,
		"How long the hub, and whoever scrapes, have had to trust a new authority before a certificate that it signed is served.")
	fs.DurationVar(&s.CheckPeriod, "self-signed-check-period", s.CheckPeriod,
		"Interval at which that Secret and the caBundles of the hub are checked.")
}

// Validate returns every fault, each led by its flag.
func (s *Settings) Validate() (errs []error) {
	if s.CheckPeriod <= 0 {
		errs = append(errs, fmt.Errorf("--self-signed-check-period: must be above 0, got %v", s.CheckPeriod))
	}
	if s.SettleTime <= 0 {
		errs = append(errs, fmt.Errorf("--self-signed-settle-time: must be above 0, got %v", s.SettleTime))
	}
	// All is done within the last third, and twice that is left for a hub that is away.
	if least := 6 * (s.SettleTime + 2*s.CheckPeriod); s.Validity < least {
		errs = append(errs, fmt.Errorf("--self-signed-validity: must be %v or more with this settle time and check period, got %v", least,
			s.Validity))
	}
	return errs
}
