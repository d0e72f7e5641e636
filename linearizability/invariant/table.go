package invariant

// none is the number of what is not there.
const none = -1

// scanned is up to how many names a table looks at one by one. A simulated
// run has fewer, and comparing them costs less than hashing one.
const scanned = 8

// identityName is what names a record. What is no record is named by a key
// alone.
type identityName struct{ scope, key string }

// table numbers names in the order of their first appearance and keeps one
// value for each. After reset the storage of old values is used again, so
// whoever adds a name must clear its value.
type table[V any] struct {
	names  []identityName
	values []V
	likely [guesses]int         // numbers by a glance at the key; each is only a guess
	byName map[identityName]int // only beyond scanned names
}

const guesses = 32

// glance picks the guess for a key. Most keys differ from one another in the
// last byte or in the last but two: order-1, key-2-1.
func glance(key string) int {
	if len(key) < 3 {
		return 0
	}
	return int(key[len(key)-1]^key[len(key)-3]<<2) % guesses
}

// at returns the value; the pointer is good until the next name is added.
func (t *table[V]) at(i int) *V { return &t.values[i] }

// find returns the number of a name, or none.
func (t *table[V]) find(scope, key string) int {
	guess := &t.likely[glance(key)]
	if *guess < len(t.names) && t.names[*guess].is(scope, key) {
		return *guess
	}
	i := t.search(scope, key)
	if i != none {
		*guess = i
	}
	return i
}

func (t *table[V]) search(scope, key string) int {
	if len(t.names) > scanned {
		if i, ok := t.byName[identityName{scope, key}]; ok {
			return i
		}
		return none
	}
	for i := range t.names {
		if t.names[i].is(scope, key) {
			return i
		}
	}
	return none
}

func (n *identityName) is(scope, key string) bool { return n.key == key && n.scope == scope }

// number returns the number of a name and whether it was added just now.
func (t *table[V]) number(scope, key string) (i int, added bool) {
	if i := t.find(scope, key); i != none {
		return i, false
	}
	i = len(t.names)
	t.names = append(t.names, identityName{scope, key})
	if i < cap(t.values) {
		t.values = t.values[:i+1]
	} else {
		var zero V
		t.values = append(t.values, zero)
	}
	t.likely[glance(key)] = i
	t.remember(i)
	return i, true
}

func (t *table[V]) remember(i int) {
	switch {
	case i < scanned:
	case i == scanned:
		if t.byName == nil {
			t.byName = make(map[identityName]int, 4*scanned)
		}
		for j, name := range t.names {
			t.byName[name] = j
		}
	default:
		t.byName[t.names[i]] = i
	}
}

func (t *table[V]) reset() {
	t.names, t.values = t.names[:0], t.values[:0]
	if len(t.byName) > 0 {
		clear(t.byName)
	}
}
