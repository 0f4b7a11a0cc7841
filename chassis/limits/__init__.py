"""What callers may ask of a process: how often (`rate`), how much at once (`concurrency`), how large (`size`)
and how long (`deadlines`). `settings` says how much of each; `interceptor` holds calls of gRPC to it."""
