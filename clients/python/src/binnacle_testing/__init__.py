"""A Kubernetes API server for tests."""

from .server import ApiError, Server, start

__all__ = ["ApiError", "Server", "start"]
