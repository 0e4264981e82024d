// What is wrong with a schema.
export * from './check/check-schema.js'
export * from './check/default-metadata.js'
export * from './check/go-printed.js'
