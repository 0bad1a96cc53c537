"""How resources are made, read, changed and deleted through ARM, as Pulumi's azure-native does it for every type alike.

``connection.py`` speaks to ARM, ``refreshing.py`` finds the inputs that became others, ``resource_handler.py`` does
what happens to a resource; ``workbench/offline/azure/shapes.py`` turns inputs into bodies and answers into outputs
by the facts.
Sources are files of pulumi/pulumi-azure-native: ``provider/pkg/provider/provider.go``,
``provider/pkg/provider/crud/crud.go``, ``provider/pkg/azure/client_azcore.go`` and ``provider/pkg/convert/``.
"""
