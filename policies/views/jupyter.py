"""Jupyter as rules see it: pods of any chart, and services of Iguazio's platform."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from typing_extensions import override

from components.contract.gpus import WHOLE_GPUS
from policies.cel import label
from policies.resource import Resource
from policies.rule import Context
from policies.values import Value, some
from policies.views.gpus import asks_for
from policies.views.pods import USER_PODS, PodFacts

PATTERN: Final = "jupyter([^h]|$)|singleuser"
"""Pattern of the image or the name of a container that runs Jupyter; JupyterHub's own services do not match.

``jupyter`` and ``jupyter-notebook`` name the containers of Iguazio's and of MLRun CE's chart.
"""

HUB_LABEL: Final = ("component", "singleuser-server")
"""Label of the notebooks that JupyterHub starts, whatever their image."""

IS_JUPYTER: Final = (
    f"({label(HUB_LABEL[0])} == '{HUB_LABEL[1]}' || variables.containers.exists(c, c.name.matches('{PATTERN}')"
    f" || c.?image.orValue('').matches('{PATTERN}')))"
)
"""The CEL of ``is_jupyter``."""

APP_SERVICES: Final = r"kubernetes:iguazio\.com/v1beta1:IguazioTenantAppServiceSet"


def jupyter_containers(pod: PodFacts) -> list[Value]:
    """Return the containers that run Jupyter."""
    found = [container for container in pod.containers() if _runs_jupyter(container)]
    return found or list(pod.spec.at("containers").elements()[:1] if _is_of_hub(pod) else ())


def is_jupyter(pod: PodFacts) -> bool:
    """Return whether the pod is a notebook: by JupyterHub's label, or because one of its containers runs Jupyter."""
    return _is_of_hub(pod) or some(pod.containers(), _runs_jupyter)


def _is_of_hub(pod: PodFacts) -> bool:
    key, value = HUB_LABEL
    return pod.label(key) == value


def _runs_jupyter(container: Value) -> bool:
    name, image = container.at("name"), container.at("image")
    # Images are often outputs of a build; then only the container's name shows what runs there.
    known = (name,) if image.is_unknown else (name, image)
    return any(re.search(PATTERN, text.text() or "") for text in known)


def is_gpu_notebook(pod: PodFacts) -> bool:
    """Return whether the pod runs Jupyter with a GPU."""
    return is_jupyter(pod) and not pod.is_system() and some(WHOLE_GPUS, partial(asks_for, pod))


@dataclass(frozen=True, slots=True)
class AppServiceFacts:
    """One service of the full platform, in the terms of its management API (igz-mgmt 0.4.2, ``app_services.py``)."""

    name: str
    props: Value

    @override
    def __str__(self) -> str:
        """Return the start of every message about the service."""
        return f"app service '{self.name}'"

    @property
    def kind(self) -> str | None:
        """Kind of service, such as ``jupyter``."""
        return self.props.at("kind").text()

    @property
    def has_gpu(self) -> bool:
        """Whether it has a GPU."""
        return bool(self.props.at("resources", "limits", "nvidia_gpu").integer())

    @property
    def scales_to_zero(self) -> bool:
        """Whether the platform stops it when idle: enabled, with a metric for idleness."""
        spec = self.props.at("scale_to_zero")
        return spec.at("mode").text() == "enabled" and bool(spec.at("scale_resources").elements())


def app_services(resource: Resource) -> Iterator[AppServiceFacts]:
    """Return the services of the full platform that a resource declares; none for most resources."""
    if re.fullmatch(APP_SERVICES, resource.type):
        for tenant in resource.props.at("spec", "spec", "tenants").elements():
            for name, service in tenant.at("spec", "services").items():
                yield AppServiceFacts(name, service)


def _concerns(pod: PodFacts, context: Context) -> bool:
    return pod.is_user_work(context) and is_jupyter(pod)


JUPYTER_PODS: Final = replace(USER_PODS, noun="each Jupyter pod of user work", concerns=_concerns)
