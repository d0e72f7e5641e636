package plan

// Fixed answers with the choices of a plan, and benign everywhere else. It is
// used for one run after the other through Reset.
type Fixed struct {
	deviations []Deviation
	met        []bool
}

// Reset makes it answer with these deviations.
func (f *Fixed) Reset(deviations []Deviation) {
	f.deviations = deviations
	f.met = append(f.met[:0], make([]bool, len(deviations))...)
}

// Choose returns the plan's choice at the site. It does not look at the menu:
// a plan that was written for another configuration still means what it says.
func (f *Fixed) Choose(site Site, _ []Choice) Choice {
	for i := range f.deviations {
		if f.deviations[i].Site == site {
			f.met[i] = true
			return f.deviations[i].Choice
		}
	}
	return Choice{}
}

// Unmet returns the deviations whose site the run did not come by.
func (f *Fixed) Unmet() (unmet []Deviation) {
	for i, met := range f.met {
		if !met {
			unmet = append(unmet, f.deviations[i])
		}
	}
	return unmet
}
