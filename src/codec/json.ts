// JSON: bytes to values and back.
export * from './json/decode.js'
export * from './json/decode-written.js'
export * from './json/encode.js'
export * from './json/interned-parts.js'
