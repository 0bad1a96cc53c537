// Package scaled passes the time of a scenario, many times as fast as real time, to code that takes a clock.
package scaled

import (
	"time"

	"k8s.io/utils/clock"
)

// Epoch is the moment of simulated time at which every clock starts. No real time is as late, so that a clock knows
// times that it gave itself from those of the API server, which are real.
var Epoch = time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC)

// longest is the longest real span that counts: the zero time would overflow when it is multiplied.
const longest = 24 * time.Hour

// Clock runs speed times as fast as real time.
type Clock struct {
	speed float64
	start time.Time
}

var _ clock.Clock = Clock{}

// NewClock returns a clock that starts now.
func NewClock(speed float64) Clock {
	return Clock{speed: speed, start: time.Now()}
}

// Real returns how long a simulated span takes.
func (c Clock) Real(simulated time.Duration) time.Duration {
	return time.Duration(float64(simulated) / c.speed)
}

// Simulated returns the simulated time that passes in a real span.
func (c Clock) Simulated(real time.Duration) time.Duration {
	return time.Duration(float64(real) * c.speed)
}

// Now returns the current simulated time.
func (c Clock) Now() time.Time {
	return Epoch.Add(c.Simulated(time.Since(c.start)))
}

// Since returns the simulated time that has passed since a moment, which may be simulated or real.
func (c Clock) Since(moment time.Time) time.Duration {
	if !moment.Before(Epoch) {
		return c.Now().Sub(moment)
	}
	return c.Simulated(min(time.Since(moment), longest))
}

// After returns a channel that receives once a simulated span has passed.
func (c Clock) After(simulated time.Duration) <-chan time.Time {
	return time.After(c.Real(simulated))
}

// Sleep waits for a simulated span.
func (c Clock) Sleep(simulated time.Duration) {
	time.Sleep(c.Real(simulated))
}

// Tick returns a channel that receives each time a simulated span has passed.
func (c Clock) Tick(simulated time.Duration) <-chan time.Time {
	return time.Tick(max(c.Real(simulated), 1))
}

// NewTimer returns a timer of a simulated span; the span of its Reset is simulated too.
func (c Clock) NewTimer(simulated time.Duration) clock.Timer {
	return timer{Timer: time.NewTimer(c.Real(simulated)), clock: c}
}

type timer struct {
	*time.Timer
	clock Clock
}

func (t timer) C() <-chan time.Time {
	return t.Timer.C
}

func (t timer) Reset(simulated time.Duration) bool {
	return t.Timer.Reset(t.clock.Real(simulated))
}
