package sim

import "fmt"

// Situation is something that a run met, counted from records and messages
// and not by the code under test.
type Situation uint8

// The situations.
const (
	Replayed           Situation = iota // a final reply told by a run that wrote nothing
	InProgress                          // a client heard "in progress"
	Mismatch                            // a client heard "other parameters"
	Gone                                // a client heard "finished, no longer kept"
	Unavailable                         // a client heard "not even asked"
	Declined                            // the provider declined a charge
	Absorbed                            // a charge request landed and its key was known
	TakeOver                            // a record got a new owner that is to send
	ResolvedByLookUp                    // a record was finished by a run that had looked up and not charged
	Settled                             // a record was finished as not charged by a run that had looked up
	HandedOver                          // a record went to review
	LostRace                            // a write found another version or owner
	LostAnswer                          // a write was applied and its answer never reached its run
	ReconcilerResolved                  // the reconciler finished a record
	MarkedSent                          // a record was marked as sent
	Refunded                            // a charge was given back
	BodyDropped                         // a record became a tombstone
	Forgotten                           // a record was deleted
	SituationCount
)

var situationNames = [SituationCount]string{
	"replayed", "in-progress", "mismatch", "gone", "unavailable", "declined", "absorbed", "take-over", "resolved-by-look-up",
	"settled", "handed-over", "lost-race", "lost-answer", "reconciler-resolved", "marked-sent", "refunded", "body-dropped", "forgotten",
}

// String returns the situation's name.
func (s Situation) String() string {
	if s < SituationCount {
		return situationNames[s]
	}
	return fmt.Sprintf("situation(%d)", uint8(s))
}
