// What the precompiled header belongs to.
