// The writing verbs.

export * from './pipeline/sent-object.js'
export * from './write/create.js'
export * from './write/patch-types.js'
