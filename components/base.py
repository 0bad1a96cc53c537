"""Base of all components of this package."""

import pulumi


class PlatformComponent(pulumi.ComponentResource):
    """Base class of all components; children inherit only what is passed to them.

    Subclasses create their children with ``self.child()`` and call ``register_outputs`` last.
    """

    def child(self, *, formerly: str = "", **options: object) -> pulumi.ResourceOptions:
        """Return options of a child: this component as parent, and what the child itself needs.

        Parameters
        ----------
        formerly
            Its logical name in earlier releases, so that the engine keeps the resource. Default: the same name.
        options
            Further options.
        """
        aliases = [pulumi.Alias(name=formerly)] if formerly else None
        return pulumi.ResourceOptions(parent=self, aliases=aliases, **options)  # type: ignore[arg-type]
