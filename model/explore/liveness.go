package explore

import "context"

const maxFairness = 64

func (x *search[S]) live() bool                              { return false }
func (x *search[S]) judgeLiveness(ctx context.Context) error { return nil }
