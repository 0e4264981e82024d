// One request and its response on the wire.
export * from './wire/exchange.js'
