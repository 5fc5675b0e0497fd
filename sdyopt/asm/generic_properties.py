"""The properties of unregistered operations: the attribute in `<…>` in generic form."""

# The name of the inherent attribute that stores them.
PROPERTIES = "properties"
