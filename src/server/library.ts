// The options of the library, read and checked.
export * from './options/library.js'
