"""The properties of unregistered operations in the generic form."""

# The inherent attribute that stores them.
PROPERTIES = "properties"
