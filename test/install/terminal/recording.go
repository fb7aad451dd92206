// SPDX-License-Identifier: Apache-2.0

// Package terminal keeps what commands have printed, as a recording that asciinema plays, and draws it as a picture of a terminal.
package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Recording is of a terminal in which commands were typed, one after the other.
type Recording struct {
	Title string
	Steps []Step
}

// Step is a command, without the prompt, and what it printed.
type Step struct{ Command, Output string }

// Columns of the terminal: longer lines go on in the next one.
const Columns = 124

const prompt = "$ "

// The times, in seconds, are made up: nobody wants to see how long the lab takes.
const answers, reads = 0.5, 2.0

// header is the first line of an asciicast of version 2: https://docs.asciinema.org/manual/asciicast/v2/.
type header struct {
	Version int    `json:"version"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Title   string `json:"title"`
}

// Cast is the recording as a file.
func (r Recording) Cast() ([]byte, error) {
	var b bytes.Buffer
	lines := json.NewEncoder(&b) // which ends each with a newline
	lines.SetEscapeHTML(false)
	if err := lines.Encode(header{Version: 2, Width: Columns, Height: r.rows(), Title: r.Title}); err != nil {
		return nil, err
	}
	for i, s := range r.Steps {
		for j, text := range []string{prompt + s.Command + "\n", s.Output} {
			event := []any{float64(i)*(answers+reads) + float64(j)*answers, "o", strings.ReplaceAll(text, "\n", "\r\n")}
			if err := lines.Encode(event); err != nil {
				return nil, err
			}
		}
	}
	return b.Bytes(), nil
}

// Read is the way back from [Recording.Cast].
func Read(cast []byte) (Recording, error) {
	lines := json.NewDecoder(bytes.NewReader(cast))
	var h header
	if err := lines.Decode(&h); err != nil {
		return Recording{}, fmt.Errorf("reading the first line: %w", err)
	}
	r := Recording{Title: h.Title}
	for lines.More() {
		typed, err := output(lines)
		if err != nil {
			return Recording{}, err
		}
		printed, err := output(lines)
		if err != nil {
			return Recording{}, err
		}
		command, ok := strings.CutPrefix(strings.TrimSuffix(typed, "\n"), prompt)
		if !ok {
			return Recording{}, fmt.Errorf("%q is no command", typed)
		}
		r.Steps = append(r.Steps, Step{Command: command, Output: printed})
	}
	return r, nil
}

// output is the text of the next event.
func output(lines *json.Decoder) (string, error) {
	var event [3]any
	if err := lines.Decode(&event); err != nil {
		return "", fmt.Errorf("reading an event: %w", err)
	}
	text, ok := event[2].(string)
	if !ok || event[1] != "o" {
		return "", errors.New("an event is no output")
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), nil
}

// rows are the lines of all of it, so that nothing scrolls.
func (r Recording) rows() (n int) {
	for _, s := range r.Steps {
		n += len(wrapped(prompt+s.Command)) + len(wrapped(s.Output))
	}
	return n
}

// wrapped are the lines of a text as a terminal shows them.
func wrapped(text string) (rows []string) {
	if text == "" {
		return nil
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		line = strings.TrimRight(line, " ")
		for utf8.RuneCountInString(line) > Columns {
			runes := []rune(line)
			rows, line = append(rows, string(runes[:Columns])), string(runes[Columns:])
		}
		rows = append(rows, line)
	}
	return rows
}
