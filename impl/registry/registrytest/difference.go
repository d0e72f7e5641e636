package registrytest

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// difference names the first field in which two records differ, or returns
// "". Times are equal if they are one instant; all else to the byte, nil and
// empty slices apart.
func difference(got, want impl.Record) string {
	g, w := reflect.ValueOf(sameClock(got)), reflect.ValueOf(sameClock(want))
	for i := range g.NumField() {
		if a, b := g.Field(i).Interface(), w.Field(i).Interface(); !reflect.DeepEqual(a, b) {
			return fmt.Sprintf("%s is %#v, want %#v", g.Type().Field(i).Name, a, b)
		}
	}
	return ""
}

// sameClock takes everything but the instants out of a record's times.
func sameClock(rec impl.Record) impl.Record {
	for _, at := range []*time.Time{&rec.WindowFrom, &rec.LeaseUntil, &rec.ExpiresAt} {
		*at = at.Round(0).UTC()
	}
	return rec
}

// clone returns a record that shares no memory with rec.
func clone(rec impl.Record) impl.Record {
	rec.Request = slices.Clone(rec.Request)
	rec.Reply.Body = slices.Clone(rec.Reply.Body)
	rec.Reply.Header = slices.Clone(rec.Reply.Header)
	return rec
}

// list names the records of a sweep.
func list(recs []impl.Record) []impl.ID {
	ids := make([]impl.ID, len(recs))
	for i := range recs {
		ids[i] = recs[i].ID
	}
	return ids
}
