package main

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"igz-clusters/toolchain/karpenter/scaled"
)

const (
	// untouched is how the names of controllers begin that copy objects into Karpenter's memory: nothing may delay
	// them, and their own periods mean real time.
	untouched = "state."

	// Real bounds of the pauses after a failure; Karpenter's are 100 ms to a minute, of simulated time.
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second
)

// fast is a manager whose controllers look again after simulated instead of real time.
type fast struct {
	manager.Manager
	clock scaled.Clock
}

// Add wraps the reconciler of a controller before it is started. Controllers are of an internal type, so their exported
// fields are reached by reflection; a release without these fields ends here, not in wrong figures.
func (f fast) Add(runnable manager.Runnable) error {
	controller := reflect.Indirect(reflect.ValueOf(runnable))
	if strings.HasPrefix(controller.FieldByName("Name").String(), untouched) {
		return f.Manager.Add(runnable)
	}
	do, ok := controller.FieldByName("Do").Interface().(reconcile.Reconciler)
	if !ok {
		return fmt.Errorf("%T has no reconciler whose periods could be shortened", runnable)
	}
	controller.FieldByName("Do").Set(reflect.ValueOf(reconcile.Func(
		func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			result, err := do.Reconcile(ctx, request)
			return f.shortened(result), err
		},
	)))
	pauses := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstPause, longestPause)
	controller.FieldByName("RateLimiter").Set(reflect.ValueOf(pauses))
	return f.Manager.Add(runnable)
}

func (f fast) shortened(result reconcile.Result) reconcile.Result {
	result.RequeueAfter = f.clock.Requeue(result.RequeueAfter)
	return result
}
