package main

import (
	"fmt"

	"github.com/chargeonce/chargeonce/tla"
)

// counterparts says, by design, which cfg file of the specification has its
// defect, or holds as the design does.
var counterparts = map[string]string{
	"always-rotate":           "key-per-send",
	"assume-applied":          "no-read-back",
	"async-failover":          "break-a3",
	"audit-stops-early":       "compensate-audit-stops-early",
	"back-to-claimed":         "no-mark",
	"blind-refund-retry":      "compensate-blind-refund-retry",
	"busy-means-failed":       "unknown-means-failed",
	"charge-in-transaction":   "window-guard-moves",
	"charge-then-save":        "keyless-resend-unproven",
	"check-then-insert":       "keyless-check-then-insert",
	"compensate-no-audit":     "compensate-no-audit",
	"delete-claim-on-error":   "delete-when-unknown",
	"fail-open":               "no-read-back",
	"first-send-unguarded":    "window-lease-unchecked",
	"float-amounts":           "no-fingerprint",
	"get-classify-set":        "no-fence",
	"heartbeat-reasserts":     "no-fence",
	"ignores-journal":         "keyless-resend-unproven",
	"in-progress-for-ever":    "live-no-resolve",
	"journal-and-compensate":  "compensate",
	"journal-and-wait":        "keyless",
	"key-is-row-id":           "key-per-send",
	"key-per-attempt":         "key-per-send",
	"later-decline-is-final":  "resend-unproven",
	"local-lock":              "keyless-check-then-insert",
	"lock-time-is-retention":  "live-no-resolve",
	"lookup-before-clock":     "clock-after-look-up",
	"lookup-lag-understated":  "break-a5-keyless",
	"no-deadline":             "keyless-resend-unproven",
	"no-fingerprint":          "no-fingerprint",
	"not-found-means-failed":  "settle-at-once",
	"outbox-without-dedupe":   "keyless-resend-unproven",
	"overwrites-lost-race":    "keyless-check-then-insert",
	"owner-is-process":        "owner-is-process",
	"ownership-by-read":       "keyless-send-after-lease",
	"ownership-is-permission": "window-no-lease-first-unguarded",
	"reaper-by-age":           "retention-collect-unfinished",
	"reference":               "keyed",
	"refund-own-choice":       "compensate-refund-own-choice",
	"rejected-means-failed":   "unknown-means-failed",
	"reply-before-save":       "reply-before-save",
	"request-scoped-save":     "delete-when-unknown",
	"retention-one-hop-short": "retention-no-tombstone-forgets-hop",
	"retry-past-horizon":      "retention-break-a4",
	"retry-past-window":       "no-guard",
	"rotate-on-rejection":     "key-per-send",
	"settles-own-send":        "settle-at-once",
	"settles-while-sending":   "window-dead-forgets-life",
	"short-retention":         "short-retention",
	"takeover-before-lookup":  "window-live-take-over-first",
	"timeout-means-failed":    "unknown-means-failed",
	"tombstone-without-print": "retention-late-forgets-print",
	"transport-resends":       "break-a6",
	"unfenced-completion":     "no-fence",
	"unfenced-release":        "no-fence",
	"unkeyed-refund":          "compensate-unkeyed-refund",
	"version-restarts":        "retention-reuse-fence-ignores-owner",
	"volatile-key":            "key-per-send",
	"window-from-send":        "window-guard-moves",
	"window-moved":            "window-guard-moves",
	"window-overstated":       "break-a1",
}

// unspecified says, by design, why the specification has nothing like it.
var unspecified = map[string]string{
	"busy-is-final":          "a client may stop to ask at any time there, and the record ends without it",
	"compares-owner":         "a version is written once there, and stands for the owner too",
	"constant-key":           "it has one operation",
	"key-not-journaled":      "it has one operation, and another key is another one",
	"lease-below-skew":       "leases decide nothing about safety there, and every run may lose its own",
	"local-cache":            "whoever reads the registry there reads what is in it",
	"never-rotate":           "a provider there keeps no failures",
	"no-retry":               "a client may stop to ask at any time there, and the record ends without it",
	"one-scope":              "it has one operation",
	"raw-byte-fingerprint":   "parameters are equal there or not, and have no form",
	"reads-replica":          "whoever reads the registry there reads what is in it",
	"replays-as-200":         "a reply there says how the money went, and nothing else",
	"resends-own-body":       "parameters are equal there or not, and have no form",
	"retry-without-key":      "it has one operation, and another key is another one",
	"scope-without-endpoint": "it has one operation",
	"store-every-status":     "what is stored there says how the money went",
	"stored-503":             "what is stored there says how the money went",
}

// specified says what the specification has of a design, and how to see it;
// empty if nobody has compared them. It returns an error if the manifest has no
// such cfg file.
func specified(design string) (string, error) {
	if why, ok := unspecified[design]; ok {
		return "nothing like it: " + why, nil
	}
	if counterparts[design] == "" {
		return "", nil
	}
	e, err := counterpartOf(design)
	if err != nil {
		return "", err
	}
	if e.Outcome == tla.Holds {
		return fmt.Sprintf("it holds: chargeonce explore -config %s", e.Config), nil
	}
	d, err := brokenIn(e)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: chargeonce explore -config %s -defect %s", d.Doc, e.Base, d.Name), nil
}

// counterpartOf returns the entry of a design that has one.
func counterpartOf(design string) (tla.Entry, error) {
	m, err := tla.ReadManifest(tla.Files)
	if err != nil {
		return tla.Entry{}, err
	}
	e, ok := m.Entry(counterparts[design])
	if !ok {
		return tla.Entry{}, fmt.Errorf("the specification has no cfg file %q for %s", counterparts[design], design)
	}
	return e, nil
}

// brokenIn returns the defect that an entry has and its base has not.
func brokenIn(e tla.Entry) (tla.Term, error) {
	mine, err := tla.ReadConfig(tla.Files, e.ConfigFile())
	if err != nil {
		return tla.Term{}, err
	}
	its, err := tla.ReadConfig(tla.Files, tla.Entry{Config: e.Base}.ConfigFile())
	if err != nil {
		return tla.Term{}, err
	}
	twin, _ := tla.TwinOf(e.Module)
	for _, d := range twin.Defects {
		if mine.Constants[d.Name] != its.Constants[d.Name] {
			return d, nil
		}
	}
	return tla.Term{}, fmt.Errorf("%s differs from %s in no defect", e.Config, e.Base)
}
