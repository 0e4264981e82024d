// Snapshots of the data directory of the embedded store.
export * from './lmdb/snapshot.js'
