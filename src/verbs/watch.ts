// The verb watch.
export * from './read/watch.js'
