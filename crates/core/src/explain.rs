//! What would happen to a URL now.
