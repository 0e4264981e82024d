// The store in memory, and snapshots of it.
export * from './memory/memory-store.js'
