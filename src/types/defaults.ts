// Defaults that the type table holds.
export * from './defaults/table-defaults.js'
