"""The three gRPC services. They meet on the wire only and never import each other."""
