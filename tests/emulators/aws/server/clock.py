"""How long AWS works on something after it has answered, in seconds of AWS."""

from typing import Final

SECONDS: Final = {
    "backup:StartBackupJob": 1200,
    "backup:StartRestoreJob": 1800,
    "ec2:CreateNatGateway": 100,
    "ec2:DeleteNatGateway": 50,
    "ec2:CreateVpcEndpoint": 60,
    "ec2:DeleteVpcEndpoints": 30,
    "efs:CreateFileSystem": 10,
    "efs:CreateMountTarget": 90,
    "eks:CreateAddon": 30,
    "eks:CreateCluster": 540,
    "eks:CreateNodegroup": 120,
    "eks:DeleteAddon": 20,
    "eks:DeleteCluster": 180,
    "eks:DeleteNodegroup": 240,
    "eks:UpdateAddon": 40,
    "eks:UpdateClusterConfig": 120,
    "eks:UpdateClusterVersion": 540,
    "eks:UpdateNodegroupConfig": 20,
    "eks:UpdateNodegroupVersion": 600,
    "fsx:CreateFileSystem": 300,
    "fsx:DeleteFileSystem": 600,
    "fsx:StorageOptimization": 21_600,
    "fsx:UpdateFileSystem": 1200,
}
"""Orders of magnitude, to tell long from short; no measurement. What is not listed is done when it is answered."""
