// Package simtest tests a payment handler of your own in the simulator, from
// your own module, as an ordinary Go test:
//
//	func TestCheckout(t *testing.T) {
//		simtest.Holds(t, simtest.Handler("checkout", newCheckout), simtest.Exhaustive(2), simtest.Random(10_000))
//	}
//
// where newCheckout builds an [impl.Handler] on the ports that it is given: a
// registry, a provider, a clock, names. The handler runs as it is, through lost
// and late messages, crashes, pauses, partitions and clock skew, and every run
// is judged by all invariants. A test that fails prints what fell, with the
// money in it, the plan of the run, and a timeline; it saves the plan under
// testdata/simtest, and from then on that plan runs first. Commit it with the
// fix: it is the regression test.
//
// It works under -run, -race and -short (a tenth of the random runs, one
// deviation less), and [Fuzz] gives it to -fuzz. It needs nothing but Go.
//
// The rule it keeps: the same code gives the same outcome and the same failure
// text; what it reports of speed goes to the log only.
package simtest
