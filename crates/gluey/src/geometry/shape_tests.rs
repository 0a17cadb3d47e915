//! One suite run on every shape, side and feature.
