// Package designs is the gallery: ways to build a payment service, right and
// wrong, each in one file of straight-line code on the ports of package impl.
//
// Three of them hold. The others are what people really ship, or what model
// checking of the protocol broke, each with one defect, and the code around
// the defect is right, so that the invariant falls which the design's Expect
// names. A design says what it believes, what breaks it and where it was seen.
// It registers nothing by itself and keeps nothing between two incarnations
// of a process.
//
// Where a design differs from the reference by a line, that line is what its
// file has: it decorates a port, or takes one of the decisions of variant.go
// otherwise. Many defects are masked, mostly by the provider's keys, and show
// in one invariant only; the design's Doc says so.
//
// The rule it keeps: a design meets the world through its ports only. It
// starts no goroutine, reads no other clock, draws no random number and ranges
// over no map, so that a run of it is a function of its plan.
package designs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/client"
)

// All returns every design, sorted by name.
func All() []impl.Design {
	return []impl.Design{
		alwaysRotate(),
		assumeApplied(),
		asyncFailover(),
		auditStopsEarly(),
		backToClaimed(),
		blindRefundRetry(),
		busyIsFinal(),
		busyMeansFailed(),
		chargeInTransaction(),
		chargeThenSave(),
		checkThenInsert(),
		comparesOwner(),
		compensateNoAudit(),
		constantKey(),
		deleteClaimOnError(),
		failOpen(),
		firstSendUnguarded(),
		floatAmounts(),
		getClassifySet(),
		heartbeatReasserts(),
		ignoresJournal(),
		inProgressForEver(),
		journalAndCompensate(),
		journalAndWait(),
		keyIsRowID(),
		keyNotJournaled(),
		keyPerAttempt(),
		laterDeclineIsFinal(),
		leaseBelowSkew(),
		localCache(),
		localLock(),
		lockTimeIsRetention(),
		lookupBeforeClock(),
		lookupLagUnderstated(),
		neverRotate(),
		noDeadline(),
		noFingerprint(),
		noRetry(),
		notFoundMeansFailed(),
		oneScope(),
		outboxWithoutDedupe(),
		overwritesLostRace(),
		ownerIsProcess(),
		ownershipByRead(),
		ownershipIsPermission(),
		rawByteFingerprint(),
		readsReplica(),
		reaperByAge(),
		reference(),
		refundOwnChoice(),
		rejectedMeansFailed(),
		replaysAs200(),
		replyBeforeSave(),
		requestScopedSave(),
		resendsOwnBody(),
		retentionOneHopShort(),
		retryPastHorizon(),
		retryPastWindow(),
		retryWithoutKey(),
		rotateOnRejection(),
		scopeWithoutEndpoint(),
		settlesOwnSend(),
		settlesWhileSending(),
		shortRetention(),
		storeEveryStatus(),
		stored503(),
		takeoverBeforeLookup(),
		timeoutMeansFailed(),
		tombstoneWithoutPrint(),
		transportResends(),
		unfencedCompletion(),
		unfencedRelease(),
		unkeyedRefund(),
		versionRestarts(),
		volatileKey(),
		windowFromSend(),
		windowMoved(),
		windowOverstated(),
	}
}

// ByName returns the design of that name. It returns an error that lists the
// names nearest to it, or all names where none is near, when there is none.
func ByName(name string) (impl.Design, error) {
	var near, all []string
	for _, d := range All() {
		if d.Name == name {
			return d, nil
		}
		all = append(all, d.Name)
		if editDistance(d.Name, name) <= len(d.Name)/3 || name != "" && strings.Contains(d.Name, name) {
			near = append(near, d.Name)
		}
	}
	if len(near) == 0 {
		return impl.Design{}, fmt.Errorf("designs: no design is called %q; there are %s", name, strings.Join(all, ", "))
	}
	return impl.Design{}, fmt.Errorf("designs: no design is called %q; did you mean %s?", name, strings.Join(near, " or "))
}

// editDistance is the least number of bytes to insert, remove or replace to
// turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances from a's prefix to each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// held is the Expect of a design that keeps every invariant.
const held = "held"

// Names of provider profiles.
const (
	keyed                 = "keyed"                   // declines are stored under the key
	keyedForgetsDeclines  = "keyed-forgets-declines"  // declines are not stored
	keyedShortWindow      = "keyed-short-window"      // keys are forgotten inside the retry horizon
	keylessLookup         = "keyless-lookup"          // no keys, look-up by reference
	keyless               = "keyless"                 // neither
	keyedStoresFailures   = "keyed-stores-failures"   // declines and failures are stored under the key
	keyedSlow             = "keyed-slow"              // messages live longer than several leases
	keylessRefundKeys     = "keyless-refund-keys"     // refunds under one key are one, others give back again
	keylessRepeatsRefunds = "keyless-repeats-refunds" // every refund gives back
)

// Names of scenarios.
const (
	onePayment          = "one-payment"
	retryOtherReplica   = "retry-other-replica"     // one payment, its retry goes to the other replica
	twoReplicasOneKey   = "two-replicas-one-key"    // two clients send one key at once to two replicas
	otherAmount         = "other-amount"            // a second client sends the key with another amount
	retryAfterRetention = "retry-after-retention"   // the journaled key is sent again much later, inside the horizon
	decline             = "decline"                 // the card is declined, and the client asks again
	mixed               = "mixed"                   // several clients, keys and replicas
	equalAsFloats       = "amounts-equal-as-floats" // a second client sends the key with an amount that is the same as a float64
	oneKeyEverywhere    = "one-key-everywhere"      // one key and body at two endpoints and for two tenants
	longTrouble         = "long-trouble"            // one payment, and faults for longer than a short window
	oneReplica          = "one-replica"             // one server process, and the order is paid again
	retryAtHorizon      = "retry-at-horizon"        // the journaled key is sent again at the last instant of the horizon
)

// oneKey is the client policy of most designs: one journaled key per payment,
// sent until an answer is final or the horizon is over.
func oneKey(cfg impl.Config, ports impl.ClientPorts) impl.Client {
	return client.New(ports, client.Retry{Horizon: cfg.RetryHorizon, First: cfg.Lease / 4, Most: cfg.Lease})
}

// service builds the reference service. Whoever runs a design validates the
// tuned configuration first, so an error here is a bug of the runner.
func service(cfg impl.Config, ports impl.Ports) *impl.Service {
	s, err := impl.New(cfg, ports)
	if err != nil {
		panic(fmt.Sprintf("designs: the configuration was not validated before it was used: %v", err))
	}
	return s
}

// serviceHandler is the reference handler, for designs that go wrong
// elsewhere.
func serviceHandler(cfg impl.Config, ports impl.Ports) impl.Handler { return service(cfg, ports) }

// serviceReconciler is the reference reconciler.
func serviceReconciler(cfg impl.Config, ports impl.Ports) impl.Reconciler { return service(cfg, ports) }

// waive returns the configuration with one more assumption that is known not
// to hold.
func waive(cfg impl.Config, a impl.Assumption) impl.Config {
	cfg.Waive = append(slices.Clone(cfg.Waive), a)
	return cfg
}
