// Strategic merge patches.

export * from './strategic-merge/schema.js'
export * from './strategic-merge/strategic-merge.js'
