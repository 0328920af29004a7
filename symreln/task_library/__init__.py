"""Ready-made tasks and specs: one file a task, one registry."""
