"""How Azure refuses: codes with the HTTP status that each comes with."""

from emulators.core.refusal import Refusal

RETRY_LATER = 429


def invalid(parameter: str, why: str) -> Refusal:
    """Return AKS's refusal of a value."""
    told = f"The value of parameter {parameter} is invalid. Error details: {why}"
    return Refusal("InvalidParameter", 400, f"{told} Please see https://aka.ms/aks-naming-rules for more details.")


def bad_request(message: str) -> Refusal:
    """Return the refusal of a request that has no code of its own."""
    return Refusal("BadRequest", 400, message)


def unchangeable(path: str) -> Refusal:
    """Return AKS's refusal to change what is fixed once it is made."""
    return Refusal("PropertyChangeNotAllowed", 400, f"Changing property '{path}' is not allowed.")


def busy(what: str) -> Refusal:
    """Return AKS's refusal of a change beside another one.

    Parameters
    ----------
    what
        Such as ``operation (Updating)`` or ``agentpool operation (gpu - Creating)``.
    """
    wait = "please wait for it to finish before starting a new operation"
    more = "See https://aka.ms/aks-pending-operation for more details"
    message = f"Operation is not allowed: Another {what} is in progress, {wait}. {more}"
    return Refusal("OperationNotAllowed", 409, message)


def not_referable(missing: str, by: str) -> Refusal:
    """Return the network's refusal of a reference to nothing."""
    make_sure = "Please make sure that the referenced resource exists, and that both resources are in the same region."
    message = f"Resource {missing} referenced by resource {by} was not found. {make_sure}"
    return Refusal("InvalidResourceReference", 400, message)


def not_found(id_: str) -> Refusal:
    """Return the refusal of a request about a resource that is not there."""
    _, _, path = id_.rpartition("/providers/")
    group = id_.split("/")[4] if id_.count("/") > 3 else ""
    message = f"The Resource '{path}' under resource group '{group}' was not found."
    return Refusal("ResourceNotFound", 404, message)


def group_not_found(name: str) -> Refusal:
    """Return the refusal of a request about or in a resource group that is not there."""
    return Refusal("ResourceGroupNotFound", 404, f"Resource group '{name}' could not be found.")
