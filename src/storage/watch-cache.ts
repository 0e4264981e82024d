// The watch cache of one resource.

export * from './cache/entry-attributes.js'
export * from './cache/watch-cache.js'
