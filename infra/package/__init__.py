"""The clusters as a Pulumi component, for programs in other languages (docs/component-package.md)."""
