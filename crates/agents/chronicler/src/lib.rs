//! The chronicler's subsystem: memory of the user and of past conversations.
