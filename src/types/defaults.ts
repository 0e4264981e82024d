// Defaults that the type table holds.
export * from './defaults/default-facts.js'
