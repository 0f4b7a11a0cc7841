"""REST and server-sent events in front of the services, made from their contracts.

Routes, JSON and the OpenAPI document come from the descriptor set `contracts.binpb`; only the multipart
upload is written by hand. The gateway keeps no state.
"""
