// Values as Go's decoders read them, and the errors of those decoders.

export * from './go/cbor-error.js'
export * from './go/decode.js'
export { restoreTyped } from './go/restore.js'
