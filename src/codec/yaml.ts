// YAML: bytes to values and back, and where in the bytes the values stand.
export * from './yaml/decode.js'
export * from './yaml/encode.js'
export * from './yaml/positions.js'
