"""Questions from Slack: a signed slash command, answered in the background at the address that Slack names.

Read in this order: `endpoint` (what a request passes) → `signature` and `command` (is it Slack's, and what
does it ask) → `answering` (asks the answer service, and tells the result) → `message` and `blocks` (how an
answer looks in Slack) → `posting` (how it gets there) → `files` (whose documents a workspace may ask).
"""
