// Strategic merge patches.

export * from './strategic-merge/strategic-merge.js'
