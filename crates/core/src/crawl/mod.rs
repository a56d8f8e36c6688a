//! The next step of a lane: a pure function of (house, lane, now).
