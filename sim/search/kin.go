package search

// kin are the runs of a plan and of those that extend it by one deviation, as
// far as they were made: what was seen of each at the sites after its last
// deviation. Where two of them are in the same state, all that extends the
// later one from there on comes to what the same extension of the other comes
// to, and need not be run. The other is the plan itself, whose extensions have
// one deviation less, or one that comes before in the order of the search:
// which plan is the first that violates does not change.
type kin struct {
	words []uint64
	runs  []kinRun
	last  map[uint64]int // by the whole run: the number of the last such run, from 1
}

// kinRun is one of them: a part of words, and the run before it that came to
// the same, from 1.
type kinRun struct{ from, to, before int }

func (k *kin) reset() {
	k.words, k.runs = k.words[:0], k.runs[:0]
	if k.last == nil {
		k.last = map[uint64]int{}
	}
	clear(k.last)
}

// join adds a run and returns the number of its first site at which it is in
// the state of a run before: from there on it need not be extended. The whole
// is what was seen of the run up to its end.
func (k *kin) join(after []asked, whole uint64) (cut int) {
	from := len(k.words)
	for i := range after {
		k.words = append(k.words, after[i].state)
	}
	mine := k.words[from:]
	cut = len(mine)
	before := k.last[whole]
	for at := before; at > 0; at = k.runs[at-1].before {
		r := &k.runs[at-1]
		other := k.words[r.from:r.to]
		same := 0 // sites, from the last one back
		for same < min(len(mine), len(other)) && mine[len(mine)-1-same] == other[len(other)-1-same] && mine[len(mine)-1-same] != unsettled {
			same++
		}
		cut = min(cut, len(mine)-same)
	}
	k.runs = append(k.runs, kinRun{from, len(k.words), before})
	k.last[whole] = len(k.runs)
	return cut
}

// unsettled is the state of a run in which something is left of its choices.
const unsettled = 0
