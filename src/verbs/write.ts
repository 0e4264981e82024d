// The writing verbs.

export * from './write/create.js'
export * from './write/patch-types.js'
