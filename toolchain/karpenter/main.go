// Command karpenter runs Karpenter on a simulated cluster, at a multiple of real time. Scheduling, disruption and
// draining are Karpenter's own; the clock, the periods of its controllers and the nodes are this program's.
//
// It opens no port, elects no leader, and creates Karpenter's own custom resource definitions.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/awslabs/operatorpkg/serrors"
	"github.com/go-logr/zapr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	kwokapis "sigs.k8s.io/karpenter/kwok/apis"
	kwokoptions "sigs.k8s.io/karpenter/kwok/options"
	"sigs.k8s.io/karpenter/pkg/apis"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeoverlay"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
	"sigs.k8s.io/karpenter/pkg/operator/options"

	"igz-clusters/toolchain/karpenter/scaled"
)

const (
	// established is the real time within which the API server must serve the custom resources.
	established = 30 * time.Second
	look        = 50 * time.Millisecond
)

// settings are the flags that Karpenter does not have.
type settings struct{ speed float64 }

func (s *settings) AddFlags(flags *options.FlagSet) {
	flags.Float64Var(&s.speed, "speed", 1, "Simulated seconds in a second of real time.")
}

func (s *settings) Parse(flags *options.FlagSet, arguments ...string) error {
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(0)
		}
		return err
	}
	if s.speed < 1 {
		return fmt.Errorf("--speed is %g, at least 1 is allowed", s.speed)
	}
	return nil
}

func (s *settings) ToContext(ctx context.Context) context.Context {
	return ctx
}

func main() {
	ours := &settings{}
	options.Injectables = append(options.Injectables, ours)
	ctx := injection.WithOptionsOrDie(ctrl.SetupSignalHandler(), options.Injectables...)
	logger := serrors.NewLogger(zapr.NewLogger(logging.NewLogger(ctx, "controller")))
	log.SetLogger(logger)
	klog.SetLogger(logger)
	ctx = log.IntoContext(ctx, logger)
	if err := run(ctx, ours.speed); err != nil {
		logger.Error(err, "ended")
		os.Exit(1)
	}
}

func run(ctx context.Context, speed float64) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = float32(options.FromContext(ctx).KubeClientQPS)
	config.Burst = options.FromContext(ctx).KubeClientBurst
	if err := define(ctx, config); err != nil {
		return fmt.Errorf("defining custom resources, %w", err)
	}
	manager, err := newManager(ctx, config)
	if err != nil {
		return err
	}
	clock := scaled.NewClock(speed)
	// What it bounds is the time that computing takes, and that is real.
	disruption.SingleNodeConsolidationTimeoutDuration = clock.Simulated(disruption.SingleNodeConsolidationTimeoutDuration)
	kube := manager.GetClient()
	cloud, err := newProvider(ctx, kube, clock, kwokoptions.FromContext(ctx).InstanceTypesFilePath)
	if err != nil {
		return fmt.Errorf("reading instance types, %w", err)
	}
	recorder := events.NewRecorder(manager.GetEventRecorderFor("karpenter")) //nolint:staticcheck // what Karpenter takes
	shortened := fast{manager, clock}
	for _, each := range controllers.NewControllers(ctx, shortened, clock, kube, recorder, cloud, cloud,
		state.NewCluster(clock, kube, cloud), nodeoverlay.NewInstanceTypeStore()) {
		if err := each.Register(ctx, shortened); err != nil {
			return err
		}
	}
	return manager.Start(ctx)
}

// define creates Karpenter's custom resource definitions, and waits until the API server serves them.
func define(ctx context.Context, config *rest.Config) error {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return err
	}
	kube, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	for _, each := range append(append([]*apiextensionsv1.CustomResourceDefinition{}, apis.CRDs...), kwokapis.CRDs...) {
		if err := kube.Create(ctx, each.DeepCopy()); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		served := func(ctx context.Context) (bool, error) {
			found := &apiextensionsv1.CustomResourceDefinition{}
			if err := kube.Get(ctx, client.ObjectKeyFromObject(each), found); err != nil {
				return false, err
			}
			for _, condition := range found.Status.Conditions {
				if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
					return true, nil
				}
			}
			return false, nil
		}
		if err := wait.PollUntilContextTimeout(ctx, look, established, true, served); err != nil {
			return fmt.Errorf("%s, %w", each.Name, err)
		}
	}
	return nil
}

func newManager(ctx context.Context, config *rest.Config) (ctrl.Manager, error) {
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Logger:                 logging.IgnoreDebugEvents(log.FromContext(ctx)),
		Metrics:                server.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		// Reconcilers find the options in their context.
		BaseContext: func() context.Context { return context.WithoutCancel(ctx) },
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&coordinationv1.Lease{}: {Field: fields.OneTermEqualSelector("metadata.namespace", corev1.NamespaceNodeLease)},
		}},
	})
	if err != nil {
		return nil, err
	}
	return manager, index(ctx, manager)
}

// index adds the indexes of Karpenter's operator, which are not exported (pkg/operator/operator.go, setupIndexers).
func index(ctx context.Context, manager ctrl.Manager) error {
	for _, each := range []struct {
		object client.Object
		field  string
		value  func(client.Object) string
	}{
		{&corev1.Pod{}, "spec.nodeName", func(o client.Object) string { return o.(*corev1.Pod).Spec.NodeName }},
		{&corev1.Node{}, "spec.providerID", func(o client.Object) string { return o.(*corev1.Node).Spec.ProviderID }},
		{&storagev1.VolumeAttachment{}, "spec.nodeName", func(o client.Object) string {
			return o.(*storagev1.VolumeAttachment).Spec.NodeName
		}},
		{&v1.NodeClaim{}, "status.providerID", func(o client.Object) string { return o.(*v1.NodeClaim).Status.ProviderID }},
		{&v1.NodeClaim{}, "spec.nodeClassRef.group", func(o client.Object) string { return o.(*v1.NodeClaim).Spec.NodeClassRef.Group }},
		{&v1.NodeClaim{}, "spec.nodeClassRef.kind", func(o client.Object) string { return o.(*v1.NodeClaim).Spec.NodeClassRef.Kind }},
		{&v1.NodeClaim{}, "spec.nodeClassRef.name", func(o client.Object) string { return o.(*v1.NodeClaim).Spec.NodeClassRef.Name }},
		{&v1.NodePool{}, "spec.template.spec.nodeClassRef.group", func(o client.Object) string { return class(o).Group }},
		{&v1.NodePool{}, "spec.template.spec.nodeClassRef.kind", func(o client.Object) string { return class(o).Kind }},
		{&v1.NodePool{}, "spec.template.spec.nodeClassRef.name", func(o client.Object) string { return class(o).Name }},
	} {
		extract := func(o client.Object) []string { return []string{each.value(o)} }
		if err := manager.GetFieldIndexer().IndexField(ctx, each.object, each.field, extract); err != nil {
			return err
		}
	}
	return nil
}

func class(pool client.Object) *v1.NodeClassReference {
	return pool.(*v1.NodePool).Spec.Template.Spec.NodeClassRef
}
