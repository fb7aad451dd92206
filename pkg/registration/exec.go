// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// execPattern is a command line that a registration may have run: words, of which the first ones may be variables that it may set.
//
//	AWS_PROFILE=* aws --region * eks get-token --cluster-name *
//
// The command is spelled as in the registration. A word is as path.Match has it, and stands for one argument, or for the value of a
// variable: * for any text without a slash.
type execPattern struct {
	variables map[string]string
	command   string
	arguments []string
}

func parseExecPattern(text string) execPattern {
	p := execPattern{variables: map[string]string{}}
	words := strings.Fields(text)
	for len(words) > 0 {
		name, value, found := strings.Cut(words[0], "=")
		if !found {
			break
		}
		p.variables[name], words = value, words[1:]
	}
	if len(words) > 0 {
		p.command, p.arguments = words[0], words[1:]
	}
	return p
}

// CheckExecPattern says what is wrong with one of [Policy].AllowedExecCommands.
func CheckExecPattern(text string) error {
	p := parseExecPattern(text)
	if p.command == "" {
		return fmt.Errorf("%q names no command", text)
	}
	for name, value := range p.variables {
		if _, err := path.Match(value, ""); name == "" || err != nil {
			return fmt.Errorf("%q: no variable can be %s=%s", text, name, value)
		}
	}
	for _, word := range p.arguments {
		if _, err := path.Match(word, ""); err != nil {
			return fmt.Errorf("%q: no argument can be %s", text, word)
		}
	}
	return nil
}

// misfit returns what of a command line is not as in the pattern, without repeating it, since arguments may hold secrets; empty if all
// is. fits is how much came before that.
func (p execPattern) misfit(run *clientcmdapi.ExecConfig) (what string, fits int) {
	for i, argument := range run.Args {
		if i >= len(p.arguments) || !fitsWord(p.arguments[i], argument) {
			return fmt.Sprintf("with its argument %d", i+1), i
		}
	}
	if len(run.Args) < len(p.arguments) {
		return fmt.Sprintf("without an argument %d", len(run.Args)+1), len(run.Args)
	}
	for _, variable := range run.Env {
		if value, allowed := p.variables[variable.Name]; !allowed || !fitsWord(value, variable.Value) {
			return fmt.Sprintf("with its variable %q", shorten(variable.Name)), len(run.Args) + 1
		}
	}
	return "", 0
}

// fitsWord is false of an option in place of a value: a plugin could read it as an option. It is false of lines and control characters,
// too, which nobody means by *, and a plugin may write into a file that it reads line by line.
func fitsWord(pattern, word string) bool {
	if strings.HasPrefix(word, "-") && !strings.HasPrefix(pattern, "-") || strings.ContainsFunc(word, unicode.IsControl) {
		return false
	}
	fits, err := path.Match(pattern, word)
	return fits && err == nil
}

// execFaults is about the command that a user runs for its credentials.
func execFaults(run *clientcmdapi.ExecConfig, policy Policy, t terms) []Fault {
	if run == nil {
		return nil
	}
	but, most := "", -1 // of the pattern that has most of it
	for _, text := range policy.AllowedExecCommands {
		p := parseExecPattern(text)
		if p.command == "" || p.command != run.Command {
			continue
		}
		what, fits := p.misfit(run)
		if what == "" {
			return nil
		}
		if fits > most {
			but, most = ", which is allowed, but not "+what, fits
		}
	}
	return []Fault{faultf(reasonExecNotAllowed,
		"%s runs the command %q for its credentials%s; use a token or a client certificate, or allow the command line with "+
			"--allowed-exec-commands", t.user, shorten(run.Command), but)}
}
