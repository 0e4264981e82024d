// YAML: bytes to values and back.
export * from './yaml/decode.js'
export * from './yaml/encode.js'
