"""Views for rules: they show node groups, pods and classes of every kind of cluster in the same terms."""
