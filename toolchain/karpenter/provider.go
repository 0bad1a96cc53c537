package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	kwokv1alpha1 "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"igz-clusters/toolchain/karpenter/scaled"
)

const (
	// groupAnnotation names the node group of a stack that a node counts as.
	groupAnnotation = "cluster-autoscaler.kwok.nodegroup/name"

	// providerPrefix begins the provider ids of nodes whose provider is kwok (kwok/cloudprovider/const.go).
	providerPrefix = "kwok://"

	// refused is what the API server says of a node that the cloud has no capacity for.
	refused = "InsufficientInstanceCapacity"

	// unavailable is how long an offering that was refused is not tried again: aws/karpenter-provider-aws,
	// pkg/cache/cache.go, UnavailableOfferingsTTL.
	unavailable = 3 * time.Minute
)

// machine is what a file of instance types says beside what Karpenter's kwok provider reads of it.
type machine struct {
	Name string `json:"name"`
	// Annotations of its nodes, by which they are simulated.
	Annotations map[string]string `json:"annotations"`
	// Groups is the node group of the stack by "NODEPOOL/ZONE".
	Groups map[string]string `json:"groups"`
}

// provider starts simulated nodes. Unlike Karpenter's own kwok provider it chooses the same node each time, gives nodes
// the annotations that simulate them, and may find no capacity.
type provider struct {
	*kwok.CloudProvider
	client   client.Client
	clock    scaled.Clock
	types    []*cloudprovider.InstanceType
	machines map[string]machine

	mutex sync.Mutex
	until map[string]time.Time
	made  map[string]int
}

// newProvider reads the file of instance types that Karpenter's options name.
func newProvider(ctx context.Context, kube client.Client, clock scaled.Clock, file string) (*provider, error) {
	types, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		return nil, err
	}
	for _, each := range types {
		each.Overhead = &cloudprovider.InstanceTypeOverhead{} // the file has allocatable resources
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var listed []machine
	if err := json.Unmarshal(content, &listed); err != nil {
		return nil, err
	}
	machines := map[string]machine{}
	for _, each := range listed {
		machines[each.Name] = each
	}
	return &provider{
		CloudProvider: kwok.NewCloudProvider(ctx, kube, types),
		client:        kube,
		clock:         clock,
		types:         types,
		machines:      machines,
		until:         map[string]time.Time{},
		made:          map[string]int{},
	}, nil
}

// choice is a machine type in a zone.
type choice struct {
	machine  *cloudprovider.InstanceType
	offering *cloudprovider.Offering
	zone     string
	key      string
	nodes    int
}

// Create starts a node for a claim: of the cheapest machine that it allows, in the zone where its pool has had the
// fewest nodes. A choice that the cloud refuses is not tried again for a while, and the next one takes its place.
func (p *provider) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	for _, each := range p.choices(claim) {
		node := p.node(claim, each)
		err := p.client.Create(ctx, node)
		if err != nil && strings.Contains(err.Error(), refused) {
			log.FromContext(ctx).Info("no capacity", "offering", each.key)
			p.refuse(each)
			continue
		}
		if err != nil && !apierrors.IsAlreadyExists(err) { // it exists if the answer to the request was lost
			return nil, fmt.Errorf("creating node, %w", err)
		}
		p.count(claim, each)
		return &v1.NodeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: claim.Name, Labels: node.Labels, Annotations: node.Annotations},
			Status: v1.NodeClaimStatus{
				NodeName:    node.Name,
				ProviderID:  node.Spec.ProviderID,
				Capacity:    each.machine.Capacity,
				Allocatable: each.machine.Allocatable(),
			},
		}, nil
	}
	return nil, cloudprovider.NewInsufficientCapacityError(errors.New(refused))
}

// GetInstanceTypes returns the types of the file; those that were refused lately are not available.
func (p *provider) GetInstanceTypes(_ context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	now := p.clock.Now()
	found := make([]*cloudprovider.InstanceType, 0, len(p.types))
	for _, each := range p.types {
		copied := each.DeepCopy()
		for _, offering := range copied.Offerings {
			offering.Available = !now.Before(p.until[offeringKey(each, offering)])
		}
		found = append(found, copied)
	}
	return found, nil
}

// choices returns what a claim allows, best first.
func (p *provider) choices(claim *v1.NodeClaim) []choice {
	wanted := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	pool := claim.Labels[v1.NodePoolLabelKey]
	p.mutex.Lock()
	defer p.mutex.Unlock()
	now := p.clock.Now()
	var found []choice
	for _, each := range p.types {
		if !wanted.Get(corev1.LabelInstanceTypeStable).Has(each.Name) {
			continue
		}
		for _, offering := range each.Offerings.Compatible(wanted) {
			key := offeringKey(each, offering)
			if now.Before(p.until[key]) {
				continue
			}
			zone := offering.Requirements.Get(corev1.LabelTopologyZone).Any()
			found = append(found, choice{each, offering, zone, key, p.made[pool+"/"+zone]})
		}
	}
	slices.SortFunc(found, func(a, b choice) int {
		return cmp.Or(
			cmp.Compare(a.offering.Price, b.offering.Price),
			cmp.Compare(a.nodes, b.nodes),
			cmp.Compare(a.machine.Name+a.zone, b.machine.Name+b.zone),
		)
	})
	return found
}

func (p *provider) refuse(chosen choice) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.until[chosen.key] = p.clock.Now().Add(unavailable)
}

func (p *provider) count(claim *v1.NodeClaim, chosen choice) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.made[claim.Labels[v1.NodePoolLabelKey]+"/"+chosen.zone]++
}

// node returns the node of a claim, as its kubelet registers it: not ready yet, else pods would start while it boots.
func (p *provider) node(claim *v1.NodeClaim, chosen choice) *corev1.Node {
	known := p.machines[chosen.machine.Name]
	labels := map[string]string{}
	for _, requirements := range []scheduling.Requirements{
		scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...),
		chosen.machine.Requirements,
		chosen.offering.Requirements,
	} {
		for key, requirement := range requirements {
			if requirement.Len() == 1 && requirement.Operator() == corev1.NodeSelectorOpIn {
				labels[key] = requirement.Any()
			}
		}
	}
	for key, value := range claim.Labels {
		labels[key] = value
	}
	labels[corev1.LabelHostname] = claim.Name
	labels[kwokv1alpha1.KwokLabelKey] = kwokv1alpha1.KwokLabelValue
	annotations := map[string]string{
		groupAnnotation: known.Groups[claim.Labels[v1.NodePoolLabelKey]+"/"+chosen.zone],
	}
	for key, value := range known.Annotations {
		annotations[key] = value
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: claim.Name, Labels: labels, Annotations: annotations},
		Spec: corev1.NodeSpec{
			ProviderID: providerPrefix + claim.Name,
			Taints:     []corev1.Taint{v1.UnregisteredNoExecuteTaint},
		},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{
				Type:    corev1.NodeReady,
				Status:  corev1.ConditionFalse,
				Reason:  "KubeletNotReady",
				Message: "starting",
			}},
		},
	}
}

func offeringKey(machine *cloudprovider.InstanceType, offering *cloudprovider.Offering) string {
	return strings.Join([]string{
		machine.Name,
		offering.Requirements.Get(v1.CapacityTypeLabelKey).Any(),
		offering.Requirements.Get(corev1.LabelTopologyZone).Any(),
	}, "/")
}
