// CBOR: bytes to values and back.
export * from './cbor/decode.js'
export * from './cbor/diagnose.js'
export * from './cbor/encode.js'
export * from './cbor/marks.js'
