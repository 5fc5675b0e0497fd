"""The properties of unregistered operations in generic form."""

# The name of the inherent attribute that stores the properties.
PROPERTIES = "properties"
