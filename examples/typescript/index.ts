// A development cluster with a GPU pool for each team: on EKS, or on this machine in the stack "local", for which
// Pulumi.local.yaml has the same settings.
import * as pulumi from "@pulumi/pulumi";
import { Cluster, types } from "@pulumi/igz-clusters";

const teams = ["vision", "speech"];

const onThisMachine: types.input.LocalConfigArgs = { kind: "local" };

const onEks: types.input.EksConfigArgs = {
    kind: "eks",
    name: "acme-dev",
    accountId: "111122223333", // yours
    region: "eu-west-1",
    zones: ["a", "b", "c"],
    version: "1.36",
    network: { kind: "created", cidr: "10.20.0.0/16" },
    publicAccessCidrs: ["203.0.113.0/24"], // yours: your office's addresses
    access: {
        deployerRoleArn: "arn:aws:iam::111122223333:role/igz-clusters-deployer", // yours
        breakGlassRoleArn: "arn:aws:iam::111122223333:role/igz-clusters-break-glass", // yours
    },
    tags: { team: "ml-platform", "cost-center": "4711" },
};

const gpuPools = Object.fromEntries(
    teams.map((team): [string, types.input.NodePoolArgs] => [
        team,
        { role: "gpu", size: { min: 0, max: 2 }, instanceTypes: ["g5.2xlarge"], labels: { team } },
    ]),
);

const cluster = new Cluster("cluster", {
    schemaVersion: 1,
    environment: "dev",
    cluster: pulumi.getStack() === "local" ? onThisMachine : onEks,
    pools: {
        initial: { role: "initial", size: { min: 3, max: 3 }, instanceTypes: ["m6i.xlarge"] },
        workload: { role: "workload", size: { min: 1, max: 10 }, instanceTypes: ["m6i.2xlarge"] },
        ...gpuPools,
    },
    namespaces: { mlrun: { coreServices: true } },
});

export const groups = cluster.groups;
export const priorityClasses = cluster.priorityClasses;
