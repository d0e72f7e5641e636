// Package search looks for plans that break a design, makes them small, and
// says what a search that found nothing has shown.
//
// A strategy only writes plans: it is a chooser of the simulated world, and
// what it chose in a run is that run's plan. Every run is judged by the
// invariants; every fourth also by Porcupine and, if its design claims to follow
// the protocol and no assumption may break, by the protocol model ([Options] has
// the share); and some run again from their plan in a fresh world, where they
// must give the same trace. An exhaustive search holds every run against the
// model. What the checkers say must agree.
//
// Strategies are measured by how many schedules they take to break the wrong
// designs of the gallery. CHARGEONCE_COMPARE=1 go test -v -run Rapid had these
// in one go, on 75 designs, in 10 trials of at most 3000 schedules each:
//
//	guided    54 of 750 trials missed;   28.5 schedules, the geometric mean
//	swarm     64 of 750 trials missed;   25.2 schedules
//	uniform   75 of 750 trials missed;   26.8 schedules
//	bytes    108 of 750 trials missed;   35.3 schedules
//	pct      119 of 750 trials missed;   36.6 schedules
//	rapid    171 of 750 trials missed;   66.6 schedules
//
// Swarm is the default: guided misses a few less and takes more schedules, and
// only runs that are independent draws, as the swarm's are, let a campaign
// that held say what it leaves open. What rapid draws in a property test, which
// knows nothing of the design either, stays in the tests.
//
// It joins the simulator and the checkers, which do not know each other. The
// rule it keeps: the outcome of a campaign depends on its options alone, not
// on the number of workers or the speed of the machine; wall time is reported
// and never judged.
package search
