package scaled

import (
	"testing"
	"testing/synctest"
	"time"
)

const speed = 60

// within runs a test in a bubble in which time passes only while everything sleeps, so that spans are exact.
func within(t *testing.T, test func(t *testing.T, clock Clock)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, NewClock(speed)) })
}

func TestTimePassesSpeedTimesAsFast(t *testing.T) {
	within(t, func(t *testing.T, clock Clock) {
		time.Sleep(2 * time.Second)
		if got, want := clock.Now(), Epoch.Add(2*time.Minute); !got.Equal(want) {
			t.Errorf("it is %v, want %v", got, want)
		}
	})
}

func TestSinceTakesSimulatedAndRealMoments(t *testing.T) {
	within(t, func(t *testing.T, clock Clock) {
		simulated, real := clock.Now(), time.Now()
		time.Sleep(10 * time.Second)
		for name, moment := range map[string]time.Time{"simulated": simulated, "real": real} {
			if got := clock.Since(moment); got != 10*time.Minute {
				t.Errorf("%v since a %s moment, want 10m", got, name)
			}
		}
		if got := clock.Since(time.Now().Add(time.Second)); got != -time.Minute {
			t.Errorf("%v since a moment to come, want -1m", got)
		}
	})
}

func TestTheZeroTimeIsLongAgoAndDoesNotOverflow(t *testing.T) {
	within(t, func(t *testing.T, clock Clock) {
		if got := clock.Since(time.Time{}); got != speed*longest {
			t.Errorf("%v since the zero time, want %v", got, speed*longest)
		}
	})
}

func TestWhateverWaitsIsScaled(t *testing.T) {
	waits := map[string]func(clock Clock){
		"Sleep":    func(clock Clock) { clock.Sleep(time.Minute) },
		"After":    func(clock Clock) { <-clock.After(time.Minute) },
		"NewTimer": func(clock Clock) { <-clock.NewTimer(time.Minute).C() },
		"Reset": func(clock Clock) {
			timer := clock.NewTimer(time.Hour)
			timer.Reset(time.Minute)
			<-timer.C()
		},
		"Tick": func(clock Clock) { <-clock.Tick(time.Minute) },
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			within(t, func(t *testing.T, clock Clock) {
				start := time.Now()
				wait(clock)
				if got := time.Since(start); got != time.Second {
					t.Errorf("waited for %v of real time, want 1s", got)
				}
			})
		})
	}
}

func TestControllersLookAgainSoonButNotTooOften(t *testing.T) {
	cases := map[time.Duration]time.Duration{
		time.Hour:        time.Minute,
		2 * time.Minute:  2 * time.Second,
		10 * time.Second: 200 * time.Millisecond,
		time.Second:      20 * time.Millisecond,
		time.Nanosecond:  time.Nanosecond,
		0:                0,
		-time.Second:     -time.Second,
	}
	for asked, want := range cases {
		if got := NewClock(speed).Requeue(asked); got != want {
			t.Errorf("%v becomes %v, want %v", asked, got, want)
		}
	}
	if got := NewClock(5).Requeue(10 * time.Second); got != 2*time.Second {
		t.Errorf("at five times the speed 10s become %v, want 2s", got)
	}
}
