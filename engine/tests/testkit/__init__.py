"""What tests of the engine, and of assignments on it, share: a module for each thing it gives."""
