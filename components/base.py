"""Base of all components of this package."""

import pulumi


class PlatformComponent(pulumi.ComponentResource):
    """Base class of all components; children inherit only what is passed to them.

    Subclasses create their children with ``self.child()`` and call ``register_outputs`` last.
    """

    def child(self, **options: object) -> pulumi.ResourceOptions:
        """Return options of a child: this component as parent, and what the child itself needs."""
        return pulumi.ResourceOptions(parent=self, **options)  # type: ignore[arg-type]
