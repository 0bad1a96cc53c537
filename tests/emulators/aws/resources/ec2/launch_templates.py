"""Launch templates."""

from typing import Final

from emulators.aws.resources.ec2.shared import TAGGING, first
from emulators.aws.resources.kinds import Change, DescribeCall, Given, Kind, Params, Removal
from emulators.aws.resources.requests import members_of
from workbench.offline.aws.operations import OPERATIONS, Request

_DATA: Final = (
    "blockDeviceMappings",
    "capacityReservationSpecification",
    "description",
    "disableApiStop",
    "disableApiTermination",
    "ebsOptimized",
    "imageId",
    "instanceMarketOptions",
    "instanceType",
    "keyName",
    "metadataOptions",
    "monitoring",
    "networkInterfaces",
    "placement",
    "tagSpecifications",
    "userData",
    "vpcSecurityGroupIds",
)


def _next_version(given: Given) -> Params:
    type_ = "aws:ec2/launchTemplate:LaunchTemplate"
    whole = members_of(type_, OPERATIONS[type_][0], {name: given.new[name] for name in _DATA if name in given.new})
    return {name: whole.get(name) for name in ("LaunchTemplateData", "VersionDescription")}


def _default_version(given: Given) -> Params | None:
    """Return the version that is the default from now on: the newest, if the program says so."""
    if not given.new.get("updateDefaultVersion"):
        fixed = given.new.get("defaultVersion")
        return {"DefaultVersion": str(int(fixed))} if fixed else None
    found = given.aws.call("ec2", "DescribeLaunchTemplates", LaunchTemplateIds=[given.keys["id"]])
    return {"DefaultVersion": str(found["LaunchTemplates"][0]["LatestVersionNumber"])}


LAUNCH_TEMPLATE: Final = Kind(
    noun="EC2 Launch Template",
    made="LaunchTemplate.LaunchTemplateId",
    keys={"LaunchTemplateId": "{id}"},
    look=first("DescribeLaunchTemplates", "LaunchTemplateIds", "LaunchTemplates"),
    more={
        "newest": DescribeCall(
            "ec2",
            "DescribeLaunchTemplateVersions",
            {"LaunchTemplateId": "{id}", "Versions": ["$Latest"]},
            "LaunchTemplateVersions[0]",
        ),
    },
    gone=frozenset({"InvalidLaunchTemplateId.NotFound", "InvalidLaunchTemplateName.NotFoundException"}),
    told={
        "name": "LaunchTemplateName",
        "description": "newest.VersionDescription",
        "defaultVersion": "DefaultVersionNumber",
        "vpcSecurityGroupIds": "newest.LaunchTemplateData.SecurityGroupIds",
        **{
            name: f"newest.LaunchTemplateData.{name[0].upper()}{name[1:]}"
            for name in _DATA
            if name not in ("description", "tagSpecifications", "vpcSecurityGroupIds")
        },
        "networkInterfaces[].securityGroups": "Groups",
        # The template's own tags are no tags of what starts from it, whatever the server says.
        "tagSpecifications": "newest.LaunchTemplateData.TagSpecifications[?ResourceType != 'launch-template']",
    },
    carried=frozenset({"updateDefaultVersion", "defaultVersion"}),
    outputs={"latestVersion": "LatestVersionNumber"},
    arn="ec2:launch-template/{id}",
    changes=(
        Change(inputs=_DATA, request=Request("ec2", "CreateLaunchTemplateVersion", inside=None), build=_next_version),
        Change(
            inputs=(*_DATA, "defaultVersion", "updateDefaultVersion"),
            request=Request("ec2", "ModifyLaunchTemplate", inside=None),
            build=_default_version,
        ),
    ),
    tagging=TAGGING,
    tag_type="launch-template",
    removal=Removal((("ec2", "DeleteLaunchTemplate", {"LaunchTemplateId": "{id}"}),)),
)

KINDS: Final = {
    "aws:ec2/launchTemplate:LaunchTemplate": LAUNCH_TEMPLATE,
}
"""By type token."""
