package search

import (
	"time"

	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Script is a chooser that reads its choices from bytes: the first tells
// which subject, and then two bytes each, how many sites to pass by and what
// to choose from the menu of the next. A fuzzer writes it, and any bytes are
// a script.
type Script struct {
	bytes []byte
	skip  int
}

// NewScript returns the chooser of a script without its first byte.
func NewScript(b []byte) *Script {
	s := &Script{bytes: b}
	s.advance()
	return s
}

func (s *Script) advance() {
	s.skip = -1
	if len(s.bytes) >= 2 {
		s.skip = int(s.bytes[0])
	}
}

// Choose passes sites by until the script's next choice is due.
func (s *Script) Choose(_ plan.Site, menu []plan.Choice) plan.Choice {
	if s.skip < 0 {
		return plan.Choice{}
	}
	if s.skip--; s.skip >= 0 {
		return plan.Choice{}
	}
	c := menu[int(s.bytes[1])%len(menu)]
	if c.Bound == plan.BoundBy {
		c.By = time.Duration(1+int(s.bytes[1])) * 4 * time.Millisecond
	}
	s.bytes = s.bytes[2:]
	s.advance()
	return c
}

// randomScript draws scripts blindly: what a fuzzer writes before it has
// learned anything.
type randomScript struct {
	Script
	drawn [24]byte
}

// Reset draws a run.
func (r *randomScript) Reset(seed, run uint64, _ time.Duration) (weather uint64) {
	next := stream(seedOf(seed, run))
	n := 2 * (1 + next.below(uint64(len(r.drawn)/2)))
	for i := uint64(0); i < n; i += 2 {
		r.drawn[i] = byte(next.below(sitesPerRun / 2))
		r.drawn[i+1] = byte(next.word())
	}
	r.Script = Script{bytes: r.drawn[:n]}
	r.advance()
	return 0
}

// Bytes makes the run of a script and returns its violation made small, nil
// if there is none. A finding is returned as an error.
func Bytes(subjects []Subject, b []byte, open OpenStore) (*Violation, error) {
	at := 0
	if len(b) > 0 {
		at, b = int(b[0])%len(subjects), b[1:]
	}
	registry, empty, shut, err := open()
	if err != nil {
		return nil, err
	}
	defer shut()
	var a *arena
	var res *sim.Result
	for try := 1; try == 1 || doubtful(res) && try <= goroutineTries; try++ {
		if a, err = newArena(subjects[at], registry, empty); err != nil {
			return nil, err
		}
		defer a.world.Close()
		res = a.run(NewScript(b), how{})
	}
	if res.Finding != nil {
		return nil, res.Finding
	}
	if a.worst() == nil {
		return nil, nil
	}
	c := campaign{opt: Options{Subjects: subjects, Open: open}}
	var r Report
	err = c.explain(&r, &stop{subject: at, deviations: append([]plan.Deviation(nil), res.Deviations...)})
	return r.Violation, err
}
