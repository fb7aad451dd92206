// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"text/scanner"
)

// evaluate is a calculator of its own: + - * / // <=, <, parentheses, min, max, ceil and trunc. A number is whole, and exact, or, as
// soon as / or a point comes in, of floating point. It returns a number; of comparisons, whether they hold.
func evaluate(text string) (_ number, holds bool, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%s: %v", text, fault)
		}
	}()
	c := &calculator{}
	c.Init(strings.NewReader(text))
	c.Mode = scanner.ScanInts | scanner.ScanFloats | scanner.ScanIdents
	c.next()
	v, holds := c.comparison()
	if c.token != scanner.EOF {
		panic("what follows " + c.TokenText())
	}
	return v, holds, nil
}

type number struct {
	whole *big.Int // nil: f is it
	f     float64
}

func (n number) float() float64 {
	if n.whole == nil {
		return n.f
	}
	f, _ := new(big.Float).SetInt(n.whole).Float64()
	return f
}

func (n number) String() string {
	if n.whole == nil {
		return fmt.Sprint(n.f)
	}
	return n.whole.String()
}

type calculator struct {
	scanner.Scanner

	token rune
}

func (c *calculator) next() { c.token = c.Scan() }

func (c *calculator) take(r rune) bool {
	if c.token != r {
		return false
	}
	c.next()
	return true
}

func (c *calculator) comparison() (v number, holds bool) {
	v, holds = c.sum(), true
	for left := v; c.take('<'); {
		orEqual := c.take('=')
		right := c.sum()
		holds = holds && (left.float() < right.float() || orEqual && left.float() == right.float())
		left = right
	}
	return v, holds
}

func (c *calculator) sum() number {
	v := c.product()
	for c.token == '+' || c.token == '-' {
		op := c.token
		c.next()
		v = both(op, v, c.product())
	}
	return v
}

func (c *calculator) product() number {
	v := c.factor()
	for c.token == '*' || c.token == '/' {
		op := c.token
		c.next()
		if op == '/' && c.take('/') {
			op = '%' // a quotient without its fraction
		}
		v = both(op, v, c.factor())
	}
	return v
}

func both(op rune, a, b number) number {
	if a.whole != nil && b.whole != nil && op != '/' {
		n := new(big.Int)
		switch op {
		case '+':
			return number{whole: n.Add(a.whole, b.whole)}
		case '-':
			return number{whole: n.Sub(a.whole, b.whole)}
		case '*':
			return number{whole: n.Mul(a.whole, b.whole)}
		case '%':
			return number{whole: n.Quo(a.whole, b.whole)}
		}
	}
	switch op {
	case '+':
		return number{f: a.float() + b.float()}
	case '-':
		return number{f: a.float() - b.float()}
	case '*':
		return number{f: a.float() * b.float()}
	case '/':
		return number{f: a.float() / b.float()}
	}
	panic("a quotient of fractions")
}

func (c *calculator) factor() number {
	text := c.TokenText()
	switch c.token {
	case '-':
		c.next()
		return both('-', number{whole: new(big.Int)}, c.factor())
	case scanner.Int:
		c.next()
		n, ok := new(big.Int).SetString(text, 10)
		if !ok {
			panic("no number: " + text)
		}
		return number{whole: n}
	case scanner.Float:
		c.next()
		var f float64
		if _, err := fmt.Sscan(text, &f); err != nil {
			panic(err)
		}
		return number{f: f}
	case '(':
		c.next()
		v := c.sum()
		c.expect(')')
		return v
	case scanner.Ident:
		c.next()
		c.expect('(')
		v := c.sum()
		for c.take(',') {
			v = extreme(text, v, c.sum())
		}
		c.expect(')')
		return rounded(text, v)
	}
	panic("what " + text + " means")
}

func (c *calculator) expect(r rune) {
	if !c.take(r) {
		panic("no " + string(r))
	}
}

func extreme(name string, a, b number) number {
	if a.float() < b.float() == (name == "min") {
		return a
	}
	return b
}

func rounded(name string, v number) number {
	round := map[string]func(float64) float64{"ceil": math.Ceil, "trunc": math.Trunc}[name]
	if round == nil || v.whole != nil {
		return v
	}
	whole, _ := big.NewFloat(round(v.f)).Int(nil)
	return number{whole: whole}
}
