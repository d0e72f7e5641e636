// Chargeonce finds out whether a payment is charged once, whatever happens.
//
// It runs payment services, right and wrong ones, in a simulated world in
// which messages are lost, processes die between the charge and the save, and
// two replicas get the same retry. It says which promise was broken, shows the
// shortest story that it found, and replays that story. It also judges
// histories that any other system has recorded.
//
// # Usage
//
//	chargeonce VERB [flags] [arguments]
//
// # Verbs
//
//	sim         run a design under random faults and say what breaks
//	search      run every plan with at most so many faults
//	replay      run one plan again and show what happens
//	explain     say what each fault of a plan does, and what would have helped
//	matrix      show which faults break which designs, and by how few
//	compare     measure how soon each strategy breaks each wrong design
//	check       judge a recorded history from any system
//	trace       tell a run in the words of the protocol model
//	coverage    say how much of the protocol model random runs of the reference go through
//	explore     visit every state of the protocol's model, and judge each
//	tla         check the TLA+ specification with TLC, and compare what it counts
//	designs     list the gallery of designs, right and wrong
//	scenarios   list what clients can want in a simulation
//	profiles    list what the simulated provider can promise
//	faults      list what can go wrong in a simulation
//	invariants  list what is checked
//	help        show this text, or that of a verb
//
// # Examples
//
//	chargeonce sim
//	chargeonce sim -design charge-then-save
//	chargeonce replay -v charge-then-save.plan
//	chargeonce sim -break A1 -history run.jsonl
//	chargeonce check run.jsonl
//
// With -json a verb writes one JSON object a line to standard output and
// nothing else there; the last line has the verdict. What goes wrong is one
// line on standard error.
//
// # Exit codes
//
//	0  held: nothing broke
//	1  violated: an invariant of safety was broken, or the code under test broke the simulator's rules
//	2  bad input: a wrong flag, an unknown name, a file that cannot be read
//	3  violated: an invariant of liveness was broken, and none of safety
//	4  undecided: it was stopped, or a bound was hit, before the answer was known
//	5  vacuous: a fault that was asked for never took effect, or there was nothing to judge
//	6  nondeterministic: the same plan gave two different traces
package main
