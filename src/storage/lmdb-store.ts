// The embedded store in a data directory.
export * from './lmdb/lmdb-store.js'
