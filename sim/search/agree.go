package search

func (a *arena) disagreement() string { return "" }
