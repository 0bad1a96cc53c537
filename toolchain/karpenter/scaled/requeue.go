package scaled

import "time"

const (
	// shortest is the real time below which a look at the cluster every ten seconds is not shortened: more often keeps
	// a machine of two cores busy with nothing else.
	shortest = 200 * time.Millisecond
	// shorter is how many times as fast shorter periods may be at most.
	shorter = 50
)

// Requeue returns the real time after which a controller looks again that asked for a simulated one.
func (c Clock) Requeue(simulated time.Duration) time.Duration {
	if simulated <= 0 {
		return simulated
	}
	// Controllers that work without a pause ask for a nanosecond; zero would mean never.
	return max(c.Real(simulated), min(simulated/shorter, shortest), time.Nanosecond)
}
